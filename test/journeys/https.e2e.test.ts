import { rm } from 'node:fs/promises'
import { type Agent, request as requestPlain } from 'node:http'
import { request as requestSecure, Agent as SecureAgent } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type PeerCertificate, type TLSSocket } from 'node:tls'
import { execa } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { certificateFolder, makeCertificate } from '../services/edge/network/certificates.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { startEdge } from '../support/system/another-service.js'
import { sayTo } from '../support/system/raw-http.js'
import { newOrganisation, system } from '../support/system/system.js'

const org = await newOrganisation('https')
const [first, second] = await Promise.all([makeCertificate('first'), makeCertificate('second')])
const { folder, files, write } = await certificateFolder()
await write(first)
const [secure, proxied] = await Promise.all([
  startEdge({ TLS_CERT: files.cert, TLS_KEY: files.key, HEADERS_TIMEOUT_MS: '2000' }),
  startEdge({ TRUST_PROXY: '127.0.0.1' }),
])
afterAll(async () => {
  await Promise.all([secure.stop(), proxied.stop()])
  await rm(folder, { recursive: true })
})

type Sent = { status: number; headers: Record<string, unknown>; socket: TLSSocket; certificate: string; port: number }

/** An upload over a connection that the test chooses. */
const upload = (url: string, how: { agent?: Agent; localAddress?: string; headers?: object; path?: string } = {}) =>
  new Promise<Sent>((resolve, reject) => {
    const send = url.startsWith('https:') ? requestSecure : requestPlain
    const options = {
      method: how.path ? 'GET' : 'POST',
      ca: [first.cert, second.cert],
      agent: how.agent ?? false,
      ...(how.localAddress && { localAddress: how.localAddress }),
      headers: { authorization: `Bearer ${org.key}`, 'content-type': 'application/json', ...how.headers },
    }
    const request = send(`${url}${how.path ?? '/v1/data/shops'}`, options, (response) => {
      const socket = response.socket as TLSSocket
      const certificate = nameOn(socket.getPeerCertificate?.())
      const { statusCode: status = 0, headers } = response
      const port = socket.localPort ?? 0
      response.on('end', () => resolve({ status, headers, socket, certificate, port })).resume()
    })
    request.on('error', reject)
    request.end(how.path ? undefined : JSON.stringify({ records: [sampleOf(shop)] }))
  })

const nameOn = (certificate?: PeerCertificate): string => String(certificate?.subject?.CN ?? '')

describe('an edge with a certificate', () => {
  it('takes an upload over https, and tells browsers to stay there', async () => {
    const answer = await upload(secure.url)
    expect(answer).toMatchObject({ status: 200, certificate: 'first' })
    expect(answer.headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains')
  })

  it('does not answer plain HTTP', async () => {
    const heard = await sayTo(secure.url, 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
    expect(heard).not.toContain('HTTP/1.1')
  })

  it('hangs up on whoever does not begin', async () => {
    // Node by itself would after two minutes.
    const nodeHangsUp = delay(120_000, 'later', { ref: false })
    expect(await Promise.race([sayTo(secure.url, ''), nodeHangsUp])).toBe('')
  })

  it('speaks TLS 1.2 and 1.3, and nothing older', async () => {
    const handshake = (version: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3') =>
      new Promise<string>((resolve) => {
        const options = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0', ca: first.cert }
        const socket = connect({ port: secure.port, host: '127.0.0.1', ...options }, () => {
          resolve(socket.getProtocol() ?? '')
          socket.destroy()
        })
        socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
      })
    expect(await Promise.all([handshake('TLSv1.3'), handshake('TLSv1.2')])).toEqual(['TLSv1.3', 'TLSv1.2'])
    expect(await handshake('TLSv1.1')).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION')
  })

  it('takes a new certificate without a break, and keeps the old one while the new one is broken', async () => {
    const agent = new SecureAgent({ keepAlive: true, maxSockets: 1, ca: [first.cert, second.cert] })
    const before = await upload(secure.url, { agent })
    expect(before.certificate).toBe('first')

    await write({ ...second, key: first.key })
    await eventually(() =>
      expect(secure.logged().map(({ msg }) => msg)).toContainEqual(expect.stringMatching(/not renewed/)),
    )
    expect(await upload(secure.url)).toMatchObject({ status: 200, certificate: 'first' })

    await write(second)
    process.kill(secure.pid, 'SIGHUP')
    await eventually(async () => expect(await upload(secure.url)).toMatchObject({ status: 200, certificate: 'second' }))

    const after = await upload(secure.url, { agent })
    expect(after).toMatchObject({ status: 200, certificate: 'first', port: before.port })
    agent.destroy()
  })
})

describe('an edge behind a proxy', () => {
  it('takes what came to the proxy over https', async () => {
    const answer = await upload(proxied.url, { headers: { 'x-forwarded-proto': 'https' } })
    expect(answer.status).toBe(200)
    expect(answer.headers['strict-transport-security']).toBeDefined()
  })

  it('refuses what came to it in the clear, but for probes', async () => {
    expect((await upload(proxied.url)).status).toBe(403)
    expect((await upload(proxied.url, { headers: { 'x-forwarded-proto': 'http' } })).status).toBe(403)
    for (const path of ['/healthz', '/readyz', '/metrics'])
      expect((await upload(proxied.url, { path })).status, path).toBe(200)
  })

  it('does not believe anybody else', async () => {
    for (const protocol of ['https', 'http']) {
      const headers = { 'x-forwarded-proto': protocol, 'x-forwarded-for': '127.0.0.1' }
      const answer = await upload(proxied.url, { localAddress: '127.0.0.2', headers })
      expect(answer.status).toBe(200)
      expect(answer.headers['strict-transport-security']).toBeUndefined()
    }
  })
})

describe('an edge that would show keys to the network', () => {
  // What else it does not start with is in test/services/edge/network: the process ends with the same one line.
  it('does not start', async () => {
    const edge = await execa(process.execPath, ['dist/services/edge/main.js'], {
      env: { ...system.env, EDGE_HOST: '0.0.0.0' },
      reject: false,
      timeout: 60_000,
    })
    expect(edge.exitCode).toBe(1)
    expect(edge.stderr).toMatch(/in the clear: set TLS_CERT and TLS_KEY, or TRUST_PROXY/)
    expect(edge.stderr.trim().split('\n')).toHaveLength(1)
  })
})
