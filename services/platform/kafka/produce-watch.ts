import { connect, type Socket } from 'node:net'

const produceRequest = 0

/** Sockets that tell when a produce request has left them: the moment between a send and its acknowledgement. */
export const watchProduce =
  (onSent: () => void) =>
  ({ host, port, onConnect }: { host: string; port: number; onConnect: () => void }): Socket => {
    const socket = connect({ host, port }, onConnect)
    const write = socket.write.bind(socket)
    socket.write = (bytes: Buffer, ...rest: unknown[]) => {
      const isProduce = Buffer.from(bytes).readInt16BE(4) === produceRequest
      const encoding = rest[0] as BufferEncoding
      return isProduce ? write(bytes, encoding, onSent) : write(bytes, encoding)
    }
    return socket
  }
