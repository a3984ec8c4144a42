import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { banner } from '../../../../deploy/embedded/launcher/banner.js'
import { checkEdgeNetwork, readConfig } from '../../../../deploy/embedded/launcher/config.js'
import { edgeUrl } from '../../../../deploy/embedded/launcher/services.js'
import { answersHttp } from '../../../../deploy/embedded/servers/ports.js'
import { makeCertificate } from '../../../services/edge/network/certificates.js'

it('reaches an edge that speaks TLS by https', () => {
  const config = readConfig({ TLS_CERT: '/cert.pem', TLS_KEY: '/key.pem', EDGE_HOST: '0.0.0.0', EDGE_PORT: '9000' })
  expect(edgeUrl(config)).toBe('https://127.0.0.1:9000')
  expect(banner(config, 'key')).toContain('curl -sk https://127.0.0.1:9000/v1/data/shops')
  expect(edgeUrl(readConfig({ TLS_CERT: '' }))).toBe('http://127.0.0.1:8080')
})

it('finds out before anything starts that the edge would not', () => {
  expect(() => checkEdgeNetwork({ EDGE_HOST: '0.0.0.0' })).toThrow('in the clear')
  expect(() => checkEdgeNetwork({ TLS_CERT: '/nowhere', TLS_KEY: '/nowhere' })).toThrow('TLS_CERT cannot be read')
  expect(() => checkEdgeNetwork({ EDGE_HOST: '0.0.0.0', TRUST_PROXY: '10.0.0.5', OTHER: 'x' })).not.toThrow()
})

it('is content with a certificate that is signed by itself, when it asks whether a process is ready', async () => {
  const server = createServer(await makeCertificate('itself'), (request, response) => {
    response.statusCode = request.url === '/readyz' ? 200 : 503
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  expect(await answersHttp(`https://127.0.0.1:${port}/readyz`)).toBe(true)
  expect(await answersHttp(`https://127.0.0.1:${port}/busy`)).toBe(false)
  expect(await answersHttp(`http://127.0.0.1:${port}/readyz`)).toBe(false)
  await new Promise((resolve) => server.close(resolve))
  expect(await answersHttp(`https://127.0.0.1:${port}/readyz`)).toBe(false)
})
