import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AccessRefused, type Trust } from '../../process/access.js'
import { tlsProblem } from '../../process/tls-problem.js'

/** A connection to a broker, and the TCP connection below it, which alone can be reset: over TLS they are two. */
export type BrokerSocket = { socket: Socket; raw: Socket }

export type OpenSocket = (options: { host: string; port: number; onConnect: () => void }) => BrokerSocket

const keepAliveAfter = 60_000

/** Opens connections to brokers, over TLS where `tls` says whom to trust. What goes wrong with that is said in one line. */
export const createOpenSocket =
  (tls: Trust | undefined): OpenSocket =>
  ({ host, port, onConnect }) => {
    const raw = connect({ host, port }).setKeepAlive(true, keepAliveAfter)
    if (!tls) {
      raw.once('connect', onConnect)
      // Heard before kafkajs: what a broker of TLS says to a stranger would be taken for the length of an answer.
      raw.once('data', (bytes: Buffer) => {
        if (isTlsAlert(bytes)) raw.destroy(refused(`Kafka speaks TLS there: ${words.on}`))
      })
      return { socket: raw, raw }
    }
    // Not by Node's own connection: only a plain TCP socket can be reset.
    const socket = connectTls({ ...tls, socket: raw, host, ...(!isIP(host) && { servername: host }) }, onConnect)
    socket.on('error', (error) => {
      const problem = tlsProblem(error, words)
      if (problem) Object.assign(error, { message: problem, code: refusedCode })
    })
    return { socket, raw }
  }

/** Of an error, kafkajs keeps the message and the code. */
const refusedCode = 'ACCESS_REFUSED'
const refused = (message: string): Error => Object.assign(new Error(message), { code: refusedCode })

const isTlsAlert = (bytes: Buffer): boolean => bytes[0] === 0x15 && bytes[1] === 0x03

/** The one line for a client that Kafka does not let in; the error itself where that is not what went wrong. */
export const orRefused = (error: unknown, hasLogin: boolean): unknown => {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code, name, message } = each as Error & { code?: unknown }
    if (each instanceof AccessRefused) return each
    if (code === refusedCode) return new AccessRefused(message.replace(/^Connection error: /, ''))
    // As a question: a broker that is being stopped hangs up as well.
    if (name === 'KafkaJSConnectionClosedError' && !hasLogin)
      return new Error('Kafka hung up without an answer: does it want a login? Then set KAFKA_SASL_MECHANISM')
    if (name === 'KafkaJSSASLAuthenticationError')
      return new AccessRefused(`Kafka refuses the login (${message}): ${check}`)
  }
  return error
}

const check =
  'check KAFKA_SASL_MECHANISM and the credentials beside it, KAFKA_USERNAME and KAFKA_PASSWORD or KAFKA_OAUTH_…'

const words = {
  part: 'Kafka',
  ca: 'KAFKA_CA_FILE',
  on: 'set KAFKA_TLS=true',
  off: 'leave KAFKA_TLS out, or name its port for TLS in KAFKA_BROKERS',
}
