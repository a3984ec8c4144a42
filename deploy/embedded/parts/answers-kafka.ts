import { connect } from 'node:net'

const WITHIN_MS = 2_000

/**
 * Whether a broker answers on this port, and is done starting. Asked in Kafka's own protocol, in 30 bytes, because a client
 * library asked this early logs errors and backs off for longer than the start takes.
 */
export const answersKafka = (port: number, host = '127.0.0.1'): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host })
    const finish = (isReady: boolean) => {
      socket.destroy()
      resolve(isReady)
    }
    let received = Buffer.alloc(0)
    socket.setTimeout(WITHIN_MS, () => finish(false))
    socket.once('error', () => finish(false))
    socket.once('close', () => finish(false))
    socket.once('connect', () => socket.write(metadataRequest()))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      if (received.length >= 12) finish(brokerCount(received) > 0)
    })
  })

// Metadata v1 for no topic at all: length, API key 3, version 1, correlation id, client id, an empty array.
const metadataRequest = (): Buffer => {
  const clientId = Buffer.from('weir-launcher')
  const request = Buffer.alloc(4 + 2 + 2 + 4 + 2 + clientId.length + 4)
  let at = request.writeInt32BE(request.length - 4)
  at = request.writeInt16BE(3, at)
  at = request.writeInt16BE(1, at)
  at = request.writeInt32BE(1, at)
  at = request.writeInt16BE(clientId.length, at)
  at += clientId.copy(request, at)
  request.writeInt32BE(0, at)
  return request
}

// The answer opens with its length, the correlation id and the number of live brokers: a fenced broker is not among them.
const brokerCount = (response: Buffer): number => response.readInt32BE(8)
