import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { createOpenSocket, type OpenSocket } from '#platform/kafka/wire/socket.js'
import { makeCertificate } from '../../../edge/network/certificates.js'

const { key, cert } = await makeCertificate('broker')

const listen = async (server: Server): Promise<number> => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}
const tlsBroker = async () => {
  const server = createTlsServer({ key, cert })
  server.on('tlsClientError', () => {})
  return { server, port: await listen(server) }
}
const open = (openSocket: OpenSocket, port: number, host = '127.0.0.1') => {
  let onConnect = () => {}
  const isConnected = new Promise<void>((resolve) => {
    onConnect = resolve
  })
  const { socket, raw } = openSocket({ host, port, onConnect: () => onConnect() })
  // Without anybody who reads, what the broker says is not heard.
  socket.on('data', () => {})
  const failed = once(socket, 'error').then(([error]) => Promise.reject(error))
  failed.catch(() => {})
  return { socket, raw, connected: Promise.race([isConnected, failed]) }
}

it('resets the TCP connection below TLS, so that what it still holds never arrives', async () => {
  const { server, port } = await tlsBroker()
  const arriving = once(server, 'secureConnection') as Promise<[TLSSocket]>
  const { socket, raw, connected } = open(createOpenSocket({ ca: cert }), port)
  await connected
  const [broker] = await arriving
  broker.on('error', () => {})
  let arrived = 0
  socket.write(Buffer.alloc(1_000))
  broker.once('data', () => broker.pause())
  await once(broker, 'pause')
  const sent = Buffer.alloc(20_000_000)
  socket.write(sent)
  const closed = once(socket, 'close')
  raw.resetAndDestroy()
  await closed
  broker.on('data', (bytes: Buffer) => {
    arrived += bytes.length
  })
  // Not `once`, which fails at the error that the reset is.
  await new Promise((resolve) => broker.once('close', resolve).resume())
  expect(arrived).toBeLessThan(sent.length)
})

it('can be ended in the middle of a handshake', async () => {
  const silent = createServer((socket: Socket) => socket.on('error', () => {}))
  const port = await listen(silent)
  const arrived = once(silent, 'connection')
  const { socket, raw } = open(createOpenSocket({ ca: cert }), port)
  await arrived
  const closed = once(socket, 'close')
  raw.resetAndDestroy()
  await closed
})

it('says which variable names the authority of a broker that is not trusted', async () => {
  const { port } = await tlsBroker()
  await expect(open(createOpenSocket({}), port).connected).rejects.toThrow(
    "Kafka has a certificate of an authority that is not trusted here (self-signed certificate): name the file with that authority's certificate (PEM) in KAFKA_CA_FILE",
  )
})

it('checks the name of a broker, and its address where it is reached by that', async () => {
  const { port } = await tlsBroker()
  await open(createOpenSocket({ ca: cert }), port, 'localhost').connected
  const other = await makeCertificate('elsewhere', 'DNS:elsewhere')
  const elsewhere = await listen(createTlsServer(other).on('tlsClientError', () => {}))
  await expect(open(createOpenSocket({ ca: other.cert }), elsewhere).connected).rejects.toThrow(
    'Kafka has a certificate for another name (',
  )
})

it('says that a broker does not speak TLS', async () => {
  const port = await listen(createServer((socket) => socket.once('data', () => socket.end())))
  await expect(open(createOpenSocket({ ca: cert }), port).connected).rejects.toThrow(
    'Kafka hung up before TLS began: does it speak TLS there? If not, leave KAFKA_TLS out, or name its port for TLS in KAFKA_BROKERS',
  )
})

it('says that a broker speaks TLS and we do not', async () => {
  const alert = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x50])
  const port = await listen(createServer((socket) => socket.end(alert)))
  const { socket, connected } = open(createOpenSocket(undefined), port)
  const failed = once(socket, 'error')
  await connected
  expect((await failed)[0]).toMatchObject({ message: 'Kafka speaks TLS there: set KAFKA_TLS=true' })
})
