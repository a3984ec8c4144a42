import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, expect, it } from 'vitest'
import { makeWheel } from '../../../../deploy/embedded/setup/wheel.mjs'
import { readDownloads } from '../../../../services/edge/http/downloads.js'
import { createEdge } from '../edge.js'

const folder = mkdtempSync(join(tmpdir(), 'weir-downloads-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pack = async (about: { name: string; bin?: string }) => {
  mkdirSync(join(folder, 'package'), { recursive: true })
  writeFileSync(join(folder, 'package/first.js'), 'x'.repeat(700))
  writeFileSync(
    join(folder, 'package/package.json'),
    JSON.stringify({ version: '1.2.3', description: 'a <b>', ...about }),
  )
  await execa('tar', ['czf', `${about.name}-1.2.3.tgz`, 'package/first.js', 'package/package.json'], { cwd: folder })
}
await pack({ name: 'client' })
await pack({ name: 'upload', bin: 'first.js' })
makeWheel(folder)
const { app } = createEdge({ downloads: readDownloads(folder) })
const get = (url: string, headers: Record<string, string> = {}) =>
  app.inject({ url, headers: { host: 'weir.example:8443', ...headers } })

it('serves its packages without a key, byte for byte, and says 304 to who has them', async () => {
  const bytes = readFileSync(join(folder, 'upload-1.2.3.tgz'))
  const { statusCode, headers, rawPayload } = await get('/downloads/upload-1.2.3.tgz')
  expect([statusCode, headers['content-type'], headers['cache-control']]).toEqual([200, 'application/gzip', 'no-cache'])
  expect(rawPayload.equals(bytes)).toBe(true)
  const again = await get('/downloads/upload-1.2.3.tgz', { 'if-none-match': String(headers.etag) })
  expect([again.statusCode, again.body]).toEqual([304, ''])
})

it('lists them with their checksums and the line that installs each from here', async () => {
  const sha256 = createHash('sha256')
    .update(readFileSync(join(folder, 'upload-1.2.3.tgz')))
    .digest('hex')
  const { packages } = (await get('/downloads/index.json')).json()
  expect(packages.map(({ install }: { install: string }) => install)).toEqual([
    'npm install http://weir.example:8443/downloads/client-1.2.3.tgz',
    'npm install -g http://weir.example:8443/downloads/upload-1.2.3.tgz',
    expect.stringMatching(/^pip install http:\/\/weir\.example:8443\/downloads\/weir_client-[\d.]+-py3-none-any\.whl$/),
  ])
  expect(packages[1]).toMatchObject({ name: 'upload', version: '1.2.3', file: 'upload-1.2.3.tgz', sha256 })
  expect(packages[2]).toMatchObject({ name: 'weir-client', description: expect.stringContaining('records') })
  expect((await get('/downloads/SHA256SUMS')).body).toContain(`${sha256}  upload-1.2.3.tgz\n`)
})

it('has a page of them that runs nothing, and takes no host for markup', async () => {
  const { headers, body } = await get('/downloads/', { host: 'a"><script>' })
  expect(headers['content-type']).toBe('text/html; charset=utf-8')
  expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri/)
  expect(body).toContain('a &lt;b&gt;')
  expect(body).not.toContain('<script')
  const redirect = await get('/downloads')
  expect([redirect.statusCode, redirect.headers.location]).toEqual([308, '/downloads/'])
})

it.each(['/downloads/other.tgz', '/downloads/..%2fpackage.json', '/downloads/package/package.json'])(
  'has nothing else: %s',
  async (url) => expect((await get(url)).statusCode).toBe(404),
)

it('says so where it was built without them', async () => {
  const { app: bare } = createEdge({ downloads: readDownloads(join(folder, 'nowhere')) })
  expect((await bare.inject('/downloads/')).body).toContain('built without them')
})
