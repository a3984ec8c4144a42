import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Link = Awaited<ReturnType<typeof openLink>>

/** A way to a server that a test can cut and freeze, while everybody else reaches that server as before. */
export const openLink = async (serverUrl: string, onAsk: (bytes: Buffer) => void = () => {}) => {
  const target = new URL(serverUrl)
  const sockets = new Set<Socket>()
  let isFrozen = false

  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
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
    near.on('data', onAsk)
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
    cut,
    mend: () => open(port),
    freeze: () => {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    /** As when a machine in between dies: what is open hangs for ever, and what is opened from now on gets through. */
    strand: () => {
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
