import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningEngine, startEngine } from './running-engine.js'

let engine: RunningEngine
let folder: string

const weir = { authorization: `Basic ${btoa('weir:secret')}` }
const post = (
  body: string | Uint8Array<ArrayBuffer> | FormData,
  parameters: Record<string, string> = {},
  headers: Record<string, string> = {},
) =>
  fetch(`${engine.url}/?${new URLSearchParams(parameters)}`, {
    method: 'POST',
    body,
    headers: 'user' in parameters || 'password' in parameters ? headers : { ...weir, ...headers },
  })
const get = (parameters: Record<string, string>) =>
  fetch(`${engine.url}/?${new URLSearchParams(parameters)}`, { headers: weir })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-clickhouse-'))
  engine = await startEngine(folder)
  await post('CREATE DATABASE d')
  await post('CREATE TABLE d.t (a UInt32, b String) ENGINE = MergeTree ORDER BY a')
})

afterAll(async () => {
  await engine.kill('SIGTERM')
  await rm(folder, { recursive: true, force: true })
})

describe('reading', () => {
  it('says Ok', async () => {
    for (const path of ['/ping', '/', '/replicas_status'])
      expect(await (await fetch(engine.url + path)).text()).toBe('Ok.\n')
    expect((await fetch(`${engine.url}/nowhere`)).status).toBe(404)
  })

  it('tells an analyst how many rows a query read, or nothing about it where others ran beside it', async () => {
    await post('CREATE TABLE d.many (a UInt64) ENGINE = MergeTree ORDER BY a')
    await post('INSERT INTO d.many SELECT number FROM numbers(100000)')
    const ask = async (query: string) => {
      const answer = await fetch(`${engine.url}/?${new URLSearchParams({ query })}`)
      await answer.arrayBuffer()
      return JSON.parse(answer.headers.get('x-clickhouse-summary') ?? '') as Record<string, string>
    }
    // Once a second the engine looks by itself whether its disk refuses writes, and that is a reading beside the query.
    const askAlone = async (query: string) => {
      for (;;) {
        const summary = await ask(query)
        if (summary.read_rows !== undefined) return summary
      }
    }
    for (const format of ['TabSeparated', 'Native', 'JSON'])
      expect(await askAlone(`SELECT sum(a) FROM d.many FORMAT ${format}`)).toMatchObject({
        ...{ read_rows: '100000', result_rows: '1' },
      })
    // One granule, of those that the index leaves.
    expect(await askAlone('SELECT sum(a) FROM d.many WHERE a = 5')).toMatchObject({ read_rows: '8192' })
    const both = await Promise.all([1, 2, 3].map(() => ask('SELECT sum(a), sleep(0.2) FROM d.many')))
    for (const { read_rows } of both) expect([undefined, '100000']).toContain(read_rows)
  })

  it('answers to addresses, localhost and its own name, and to no other host', async () => {
    const { port } = new URL(engine.url)
    const ask = (host: string | undefined, path = '/?query=SELECT+1') =>
      new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
        const headers = { ...weir, ...(host !== undefined && { host }) }
        const asked = request({ port, host: '127.0.0.1', path, setHost: false, headers }, (answer) => {
          let text = ''
          answer.on('data', (bytes) => {
            text += bytes
          })
          answer.on('end', () => resolve({ status: answer.statusCode, text }))
        })
        asked.on('error', reject).end()
      })
    const own = ['127.0.0.1', '10.1.2.3', '[::1]', 'localhost', 'LocalHost', hostname()]
    for (const host of own.flatMap((name) => [name, `${name}:${port}`]))
      expect(await ask(host), host).toEqual({ status: 200, text: '1\n' })
    const foreign = ['rebind.example', 'localhost.rebind.example', '127.0.0.1.rebind.example', 'a b', '']
    for (const host of foreign.flatMap((name) => [name, `${name}:${port}`])) {
      const { status, text } = await ask(host)
      expect(status, host).toBe(403)
      expect(text).toContain(`Ask for it by its address (http://127.0.0.1:${port}), as localhost, or as ${hostname()}.`)
    }
    expect((await ask('rebind.example', '/play')).status).toBe(403)
  })

  it('has a page for queries, which runs its own script and needs nobody else', async () => {
    const answer = await fetch(`${engine.url}/play`)
    expect(answer.headers.get('content-type')).toBe('text/html; charset=UTF-8')
    const page = await answer.text()
    const script = /<script>([\s\S]*)<\/script>/.exec(page)?.[1] ?? ''
    const policy = answer.headers.get('content-security-policy')
    expect(policy).toContain(`script-src 'sha256-${createHash('sha256').update(script).digest('base64')}';`)
    expect(policy).toContain("default-src 'none'")
    expect(page).not.toMatch(/https?:|innerHTML|localStorage|document\.cookie/)
    expect((await fetch(`${engine.url}/play`, { method: 'POST' })).status).toBe(404)
  })

  it('answers with the headers of a server', async () => {
    const answer = await get({ query: 'SELECT 1 AS a', default_format: 'JSONEachRow', query_id: 'mine' })
    expect(await answer.text()).toBe('{"a":1}\n')
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=UTF-8')
    expect(answer.headers.get('x-clickhouse-query-id')).toBe('mine')
    expect(answer.headers.get('x-clickhouse-format')).toBe('JSONEachRow')
    expect(JSON.parse(answer.headers.get('x-clickhouse-summary') ?? '')).toMatchObject({ result_rows: '1' })
  })

  it('joins the query of the address and of the body', async () => {
    expect(await (await post('+ {x:UInt8}', { query: 'SELECT 40', param_x: '2' })).text()).toBe('42\n')
  })

  it('takes long parameters from a form', async () => {
    const form = new FormData()
    form.set('query', 'SELECT length({x:String})')
    form.set('param_x', 'x'.repeat(100_000))
    expect(await (await post(form)).text()).toBe('100000\n')
  })

  it('packs the answer when asked to', async () => {
    const answer = await get({ query: 'SELECT * FROM numbers(1000)', enable_http_compression: '1' })
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect((await answer.text()).split('\n')).toHaveLength(1001)
  })

  it('forgets settings after each request', async () => {
    const threads = "SELECT getSetting('max_block_size')"
    expect(await (await post(threads, { max_block_size: '7' })).text()).toBe('7\n')
    expect(await (await post(threads)).text()).not.toBe('7\n')
  })
})

describe('refusing', () => {
  it.each([
    ['an unknown table', 'SELECT * FROM d.nope', {}, 404, 60, 'UNKNOWN_TABLE'],
    ['an unknown database', 'SELECT 1', { database: 'weir' }, 404, 81, 'UNKNOWN_DATABASE'],
    ['an unknown setting', 'SELECT 1', { nonsense: '1' }, 404, 115, 'UNKNOWN_SETTING'],
    ['bad syntax', 'SELEC 1', {}, 400, 62, 'SYNTAX_ERROR'],
    ['another user', 'SELECT 1', { user: 'bob' }, 403, 516, 'AUTHENTICATION_FAILED'],
    ['a wrong password', 'SELECT 1', { password: 'x' }, 403, 516, 'AUTHENTICATION_FAILED'],
    ['bad data', 'INSERT INTO d.t FORMAT CSV\nx,y', {}, 400, 27, 'CANNOT_PARSE_INPUT_ASSERTION_FAILED'],
    ['block compression', 'SELECT 1', { compress: '1' }, 501, 48, 'NOT_IMPLEMENTED'],
  ])('%s', async (_, sql, parameters, status, code, type) => {
    const answer = await post(sql, parameters as Record<string, string>)
    const text = await answer.text()
    expect([answer.status, answer.headers.get('x-clickhouse-exception-code')]).toEqual([status, String(code)])
    expect(text).toMatch(new RegExp(`^Code: ${code}\\. DB::Exception: [\\s\\S]*\\(${type}\\) \\(version .*\\)\\n$`))
    expect(text).not.toContain(folder)
  })

  it('writing by GET', async () => {
    for (const asked of [{}, { readonly: '00' }]) {
      const answer = await get({ query: 'INSERT INTO d.t VALUES (1, 2)', ...asked })
      expect(answer.headers.get('x-clickhouse-exception-code')).toBe('164')
    }
  })
})

describe('inserting', () => {
  const rows = async (from: number) =>
    (await post(`SELECT b FROM d.t WHERE a >= ${from} AND a < ${from + 10} ORDER BY a`)).text()

  it('takes data behind the statement, in the address or in the body, packed or not', async () => {
    const into = { query: 'INSERT INTO d.t FORMAT CSV' }
    const gzip = { 'content-encoding': 'gzip' }
    await post('10,é', into)
    await post("INSERT INTO d.t VALUES (11, 'x;y');")
    await post(new Uint8Array(gzipSync('12,packed')), into, gzip)
    await post(new Uint8Array(gzipSync('INSERT INTO d.t FORMAT CSV\n13,both packed')), {}, gzip)
    expect(await rows(10)).toBe('é\nx;y\npacked\nboth packed\n')
  })

  it('takes data for input(), and a statement that is packed as Node cannot unpack it', async () => {
    await post("INSERT INTO d.t SELECT a + 1, b FROM input('a UInt32, b String') FORMAT CSV\n39,given")
    const sql = 'INSERT INTO d.t FORMAT CSV\n41,zstd'
    // The shortest zstd: a frame with one block, which is not compressed.
    const frame = [0x28, 0xb5, 0x2f, 0xfd, 0x20, sql.length, ((sql.length << 3) & 0xff) | 1, sql.length >> 5, 0]
    await post(new Uint8Array([...frame, ...Buffer.from(sql)]), {}, { 'content-encoding': 'zstd' })
    expect(await rows(40)).toBe('given\nzstd\n')
  })

  it('tells the rows it wrote', async () => {
    const answer = await post('20,a\n21,b\n', { query: 'INSERT INTO d.t FORMAT CSV', async_insert: '1' })
    expect(JSON.parse(answer.headers.get('x-clickhouse-summary') ?? '')).toMatchObject({ written_rows: '2' })
  })

  it('keeps bytes that are no text', async () => {
    const native = new Uint8Array(
      await (await post("SELECT 30::UInt32 AS a, unhex('00FF80') AS b FORMAT Native")).arrayBuffer(),
    )
    expect((await post(native, { query: 'INSERT INTO d.t FORMAT Native' })).status).toBe(200)
    expect(await (await post('SELECT hex(b) FROM d.t WHERE a = 30')).text()).toBe('00FF80\n')
  })
})
