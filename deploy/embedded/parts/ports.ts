import { once } from 'node:events'
import { get as getPlain } from 'node:http'
import { get as getSecure } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'

const WITHIN_MS = 2_000

/** Whether a GET of this address is answered with 200. A refused, cut or late connection means: not yet. */
export const answersHttp = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const get = url.startsWith('https:') ? getSecure : getPlain
    const options = {
      // The process is our own, on this machine; its certificate may be made for another name, or be self-signed.
      rejectUnauthorized: false,
      agent: false,
      signal: AbortSignal.timeout(WITHIN_MS),
    }
    get(url, options, (response) => {
      response.on('error', () => resolve(false))
      response.on('end', () => resolve(response.statusCode === 200)).resume()
    }).on('error', () => resolve(false))
  })

/** `count` different ports that nobody listens on right now. */
export const freePorts = async (count: number): Promise<number[]> => {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}
