import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { eventually } from './eventually.js'

export type Link = Awaited<ReturnType<typeof openLink>>

/** What is on its way in one direction: bytes, each due at a moment, or the end. */
type Queue = {
  to: Socket
  isLost: boolean
  waiting: { due: number; bytes: Buffer | 'end' }[]
  timer: NodeJS.Timeout | undefined
}

/** A way to a server that a test can cut, slow down and freeze, while everybody else reaches the server as before. */
export const openLink = async (
  target: { host: string; port: number },
  { onSent = () => {} }: { onSent?: (bytes: Buffer) => void } = {},
) => {
  const queues = new Set<Queue>()
  const sockets = new Set<Socket>()
  let isFrozen = false
  let delay = 0

  // One queue in each direction keeps the order, whatever the delay was when the bytes came.
  const pump = (queue: Queue): void => {
    clearTimeout(queue.timer)
    while (!isFrozen && queue.waiting[0]) {
      const wait = queue.waiting[0].due - Date.now()
      if (wait > 0) {
        queue.timer = setTimeout(() => pump(queue), wait)
        return
      }
      const bytes = queue.waiting.shift()?.bytes
      if (bytes === 'end') queue.to.end()
      else if (bytes) queue.to.write(bytes)
    }
  }

  const pass = (from: Socket, to: Socket): void => {
    const queue: Queue = { to, isLost: false, waiting: [], timer: undefined }
    queues.add(queue)
    sockets.add(from)
    const hold = (bytes: Buffer | 'end') => {
      if (queue.isLost) return
      queue.waiting.push({ due: Date.now() + delay, bytes })
      pump(queue)
    }
    from.on('data', hold)
    // A process that dies has sent what it has sent: that still arrives, and then the end.
    from.on('end', () => hold('end'))
    // What a cut does to the other end is wanted.
    from.on('error', () => {
      if (!queue.isLost) to.destroy()
    })
    from.on('close', () => sockets.delete(from))
    to.on('close', () => {
      clearTimeout(queue.timer)
      queues.delete(queue)
      if (!queue.isLost) from.destroy()
    })
  }

  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ ...target, allowHalfOpen: true })
    near.on('data', onSent)
    pass(near, far)
    pass(far, near)
  })
  const listen = async (wanted: number): Promise<number> => {
    server.listen(wanted, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const port = await listen(0)

  const cut = async () => {
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return {
    port,
    /** Ends every connection in the middle of what it does; new ones are refused. */
    cut,
    // While it was cut, somebody's outgoing connection may have been given the port for a moment.
    mend: async () => {
      if (!server.listening) await eventually(() => listen(port))
    },
    /** Nothing arrives any more, and nobody is told. */
    freeze: () => {
      isFrozen = true
    },
    thaw: () => {
      isFrozen = false
      for (const queue of queues) pump(queue)
    },
    /** Open connections go silent for ever, and neither end is told, as when a firewall forgets them; new ones work. */
    lose: () => {
      for (const queue of queues) {
        queue.isLost = true
        queue.waiting = []
      }
    },
    /** Holds back every byte for so many milliseconds from now on. */
    slowDown: (ms: number) => {
      delay = ms
    },
    close: async () => {
      if (server.listening) await cut()
    },
  }
}

/** The same, for a server that is known by its address; `url` is the address of the link. */
export const openLinkTo = async (serverUrl: string, options?: Parameters<typeof openLink>[1]) => {
  const url = new URL(serverUrl)
  const link = await openLink({ host: url.hostname, port: Number(url.port) }, options)
  url.host = `127.0.0.1:${link.port}`
  return { ...link, url: url.href }
}
