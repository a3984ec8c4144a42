import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type PostgresLink = Awaited<ReturnType<typeof openPostgresLink>>

/** A way to Postgres that a test can cut, freeze and count on, while everybody else reaches it as before. */
export const openPostgresLink = async (postgresUrl: string) => {
  const target = new URL(postgresUrl)
  const sockets = new Set<Socket>()
  const asked = new Map<string, number>()
  let isFrozen = false

  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => to.write(bytes))
      // What a cut does to the other end is wanted.
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (isFrozen) from.pause()
    }
    near.on('data', (bytes) => {
      // A prepared statement is named each time that it is run.
      for (const [, name = ''] of bytes.toString('latin1').matchAll(/([a-z-]{4,})\0/g))
        asked.set(name, (asked.get(name) ?? 0) + 1)
    })
  })
  const open = async (port = 0): Promise<number> => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await open()
  const url = new URL(target)
  url.host = `127.0.0.1:${port}`

  const cut = async () => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    url: url.href,
    /** How often a statement of this name was sent. */
    timesAsked: (name: string) => asked.get(name) ?? 0,
    cut,
    mend: () => open(port),
    freeze: () => {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw: () => {
      isFrozen = false
      for (const socket of sockets) socket.resume()
    },
    close: async () => {
      if (server.listening) await cut()
    },
  }
}
