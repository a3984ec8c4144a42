import { once } from 'node:events'
import { request } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { TLSSocket } from 'node:tls'

// What companies put before a part: TLS in front, the real part, as the tests run it, behind.

type Certificate = { key: string; cert: string }
export type TlsFront = { url: string; close: () => void }

const listen = async (server: Server): Promise<number> => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

const frontOf = (address: string, protocol: string, port: number, close: () => void): TlsFront => {
  const url = new URL(address)
  url.protocol = protocol
  url.host = `localhost:${port}`
  return { url: url.href.replace(/\/$/, ''), close }
}

/** HTTPS before a part that speaks HTTP; lets in only those who show `authorization`, if that is given. */
export const openHttpsFront = async (
  address: string,
  certificate: Certificate,
  authorization?: string,
): Promise<TlsFront> => {
  const { hostname, port } = new URL(address)
  const server = createHttps(certificate, (asked, answer) => {
    const isKnown = !authorization || asked.headers.authorization === authorization
    if (!isKnown) return void answer.writeHead(401, { 'content-type': 'application/json' }).end('{"error_code":401}')
    const { method, url: path, headers } = asked
    asked.pipe(
      request({ hostname, port, method, path, headers }, (found) => {
        answer.writeHead(found.statusCode ?? 502, found.headers)
        found.pipe(answer)
      }),
    )
  })
  server.on('tlsClientError', () => {})
  const front = await listen(server)
  return frontOf(address.replace(/^http:/, 'https:'), 'https:', front, () => {
    server.close()
    server.closeAllConnections()
  })
}

const sslRequest = 80877103

/** TLS before Postgres, begun in Postgres's own way: the client asks for it in eight bytes, and is answered S. */
export const openPostgresFront = async (address: string, certificate: Certificate): Promise<TlsFront> => {
  const { hostname, port } = new URL(address)
  const server = createServer((near) => {
    near.on('error', () => {})
    near.once('data', (asked) => {
      if (asked.length !== 8 || asked.readInt32BE(4) !== sslRequest) {
        near.destroy()
        return
      }
      near.write('S')
      const secure = new TLSSocket(near, { isServer: true, ...certificate })
      const far = connect(Number(port), hostname)
      for (const socket of [secure, far]) socket.on('error', () => near.destroy())
      secure.pipe(far).pipe(secure)
    })
  })
  return frontOf(address, 'postgres:', await listen(server), () => void server.close())
}
