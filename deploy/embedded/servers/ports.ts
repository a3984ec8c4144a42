import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { get as getPlain } from 'node:http'
import { get as getSecure } from 'node:https'
import { createServer } from 'node:net'

const WITHIN_MS = 2_000

/** Whether a GET of this address is answered with 200. A refused, cut or late connection means: not yet. */
export const answersHttp = async (url: string): Promise<boolean> => (await askHttp(url))?.status === 200

/** What a GET of this address is answered with; undefined where there is no answer. */
export const askHttp = (url: string): Promise<{ status: number | undefined; body: string } | undefined> =>
  new Promise((resolve) => {
    const get = url.startsWith('https:') ? getSecure : getPlain
    const options = {
      // The process is our own, on this machine; its certificate may be made for another name, or be self-signed.
      rejectUnauthorized: false,
      agent: false,
      signal: AbortSignal.timeout(WITHIN_MS),
    }
    get(url, options, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text
      })
      response.on('error', () => resolve(undefined))
      response.on('end', () => resolve({ status: response.statusCode, body }))
    }).on('error', () => resolve(undefined))
  })

// Below the ports that outgoing connections are given (from 32768 on in Linux, higher elsewhere): one of those could take the
// port before its server starts, or while that server is being started again.
const lowest = 20_000
const highest = 32_000

// Onwards from a random place: another process that looks for ports at the same time looks elsewhere.
let next = randomInt(lowest, highest)

/** Ports that no process listens on, and that no other process is given by this function for as long as this one lives. */
export const freePorts = async (count: number): Promise<number[]> => {
  const ports: number[] = []
  while (ports.length < count) {
    const port = next
    next = port === highest ? lowest : port + 1
    if (await claimPort(port)) ports.push(port)
  }
  return ports
}

/**
 * Takes a port for this process. Its server may start only minutes later: until then, the UDP port of the same number, which
 * none of the servers uses, shows other processes that it is taken. The system gives it back when this process ends.
 */
export const claimPort = async (port: number): Promise<boolean> => {
  const claim = createSocket('udp4')
  const server = createServer()
  try {
    claim.bind({ port, address: '127.0.0.1', exclusive: true })
    await once(claim, 'listening')
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch {
    claim.close()
    return false
  }
  await once(server.close(), 'close')
  claim.unref()
  return true
}
