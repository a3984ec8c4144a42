import { once } from 'node:events'
import { get as getPlain } from 'node:http'
import { get as getSecure } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'

const WITHIN_MS = 2_000

/** Whether a GET of this address is answered with 200; refused, cut or late all mean not yet. */
export const answersHttp = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const get = url.startsWith('https:') ? getSecure : getPlain
    const options = {
      // It is our own process on this machine; its certificate is made for another name, or signed by itself.
      rejectUnauthorized: false,
      agent: false,
      signal: AbortSignal.timeout(WITHIN_MS),
    }
    get(url, options, (response) => {
      response.on('error', () => resolve(false))
      response.on('end', () => resolve(response.statusCode === 200)).resume()
    }).on('error', () => resolve(false))
  })

/** Ports that nobody listens on right now. Asked for together, they differ. */
export const freePorts = async (count: number): Promise<number[]> => {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}
