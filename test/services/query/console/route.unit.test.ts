import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { readPages } from '#query/console/pages.js'
import { createEdge } from '../../edge/edge.js'

const folder = mkdtempSync(join(tmpdir(), 'weir-console-'))
afterAll(() => rmSync(folder, { recursive: true }))
const script = `export const text = '${'x'.repeat(5000)}'\n`
mkdirSync(join(folder, 'dist/files'), { recursive: true })
writeFileSync(join(folder, 'secret.txt'), 'not for anybody')
writeFileSync(join(folder, 'dist/index.html'), '<!doctype html><title>Weir</title>')
writeFileSync(join(folder, 'dist/files/main.js'), script)
writeFileSync(join(folder, 'dist/files/main.ts'), 'a source')

const { app } = createEdge({ pages: readPages(join(folder, 'dist')) })
const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })

describe('/console', () => {
  it('leads to its page, which needs no key and may load only what lies beside it', async () => {
    expect(await get('/console')).toMatchObject({ statusCode: 308, headers: { location: '/console/' } })
    const page = await get('/console/')
    expect([page.statusCode, page.headers['content-type'], page.body]).toEqual([
      200,
      'text/html; charset=utf-8',
      '<!doctype html><title>Weir</title>',
    ])
    const policy = String(page.headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("; worker-src 'self';")
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
    expect(page.headers['x-content-type-options']).toBe('nosniff')
  })

  it('serves scripts, packed for those who take it, and not again to those who have them', async () => {
    const plain = await get('/console/files/main.js')
    expect([plain.headers['content-type'], plain.body]).toEqual(['text/javascript; charset=utf-8', script])
    expect(plain.headers['content-encoding']).toBeUndefined()
    const packed = await get('/console/files/main.js', { 'accept-encoding': 'br, gzip;q=0.8' })
    expect(gunzipSync(packed.rawPayload).toString()).toBe(script)
    expect(packed.rawPayload.length).toBeLessThan(200)
    expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
    expect((await get('/console/files/main.js', { 'accept-encoding': 'gzip;q=0' })).body).toBe(script)
    const etag = String(plain.headers.etag)
    const again = await get('/console/files/main.js', { 'if-none-match': `"other", W/${etag}` })
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag])
    expect((await get('/console/files/main.js', { 'if-none-match': '"other"' })).statusCode).toBe(200)
    // Its name says what is in it, so that a browser keeps it; the page, which names it, is asked for each time.
    expect(plain.headers['cache-control']).toContain('immutable')
    expect((await get('/console/')).headers['cache-control']).toBe('no-cache')
    const head = await app.inject({ method: 'HEAD', url: '/console/files/main.js' })
    expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([200, '', String(script.length)])
  })

  it.each([
    '../secret.txt',
    '%2e%2e/secret.txt',
    '..%2fsecret.txt',
    '%2fetc/passwd',
    'files/../../secret.txt',
    'files',
    'x.js',
  ])('has nothing at %s', async (path) => {
    const answer = await get(`/console/${path}`)
    expect(answer.statusCode).toBe(404)
    expect(answer.body).not.toContain('not for anybody')
  })

  it('serves no sources, and takes no other method', async () => {
    expect((await get('/console/files/main.ts')).statusCode).toBe(404)
    expect((await app.inject({ method: 'POST', url: '/console/' })).statusCode).toBe(405)
  })

  it('says how to build it where it is not there', async () => {
    const { app: without } = createEdge()
    const answer = await without.inject({ url: '/console/' })
    expect([answer.statusCode, answer.json().message]).toEqual([404, expect.stringContaining('npm run build')])
  })
})

it('leads from / to the console, and answers programs that want no page as before', async () => {
  for (const accept of ['text/html,application/xhtml+xml', '*/*']) {
    const page = await get('/', { accept })
    expect([page.statusCode, page.headers.location]).toEqual([302, '/console/'])
  }
  for (const headers of [{}, { accept: 'application/json' }]) {
    const other = await get('/', headers)
    expect([other.statusCode, other.json().message]).toEqual([404, expect.stringContaining('/docs')])
  }
  expect((await app.inject({ method: 'POST', url: '/' })).statusCode).toBe(404)
})
