import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningEngine, startEngine } from './running-engine.js'

// The user without a password, as curl, a notebook and /play connect: everything may be read, nothing else be done.

let engine: RunningEngine
let folder: string
let secret: string
let visits = 0
const website = createServer((_, response) => {
  visits++
  response.end('1\n')
})

const ask = async (sql: string, parameters: Record<string, string> = {}) => {
  const answer = await fetch(`${engine.url}/?${new URLSearchParams(parameters)}`, { method: 'POST', body: sql })
  return { status: answer.status, code: answer.headers.get('x-clickhouse-exception-code'), text: await answer.text() }
}
const rows = async () => (await ask('SELECT a FROM d.t ORDER BY a')).text

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-analyst-'))
  secret = join(folder, 'secret.txt')
  await writeFile(secret, 'nobody-may-read-this\n')
  await new Promise<void>((listening) => website.listen(0, '127.0.0.1', listening))
  engine = await startEngine(join(folder, 'clickhouse'))
  const weir = createClient({ url: engine.ownUrl })
  await weir.command({ query: 'CREATE DATABASE d' })
  await weir.command({ query: 'CREATE TABLE d.t (a UInt32, b String) ENGINE = MergeTree ORDER BY a' })
  await weir.command({ query: 'CREATE VIEW d.v SQL SECURITY INVOKER AS SELECT a FROM d.t' })
  await weir.insert({ table: 'd.t', values: [{ a: 1, b: 'x' }], format: 'JSONEachRow' })
  await weir.close()
})

afterAll(async () => {
  website.close()
  await engine.kill('SIGTERM')
  await rm(folder, { recursive: true, force: true })
})

describe('an analyst', () => {
  it.each([
    ['tables', 'SELECT a FROM d.t', {}, '1\n'],
    ['views', 'SELECT a FROM d.v', {}, '1\n'],
    ['what there is', 'SHOW TABLES FROM d', {}, 't\nv\n'],
    ['with settings in the address', "SELECT getSetting('max_threads')", { max_threads: '3' }, '3\n'],
    ['with settings in the statement', "SELECT getSetting('max_threads') SETTINGS max_threads = 3", {}, '3\n'],
    ['with parameters', 'SELECT a FROM d.{t:Identifier} WHERE b = {b:String}', { param_t: 't', param_b: 'x' }, '1\n'],
    ['with comments and a semicolon', '/* a; b */ SELECT 1; -- done', {}, '1\n'],
    ['in another format', 'SELECT 1 AS a FORMAT JSONEachRow', {}, '{"a":1}\n'],
    ['numbers', "SELECT format('{} of {}', number, 'x') FROM numbers(1)", {}, '0 of x\n'],
    ['with common table expressions', 'WITH x AS (SELECT 1 AS n) SELECT n FROM x', {}, '1\n'],
    ['the words of a refusal', "SELECT 'file', 'INTO OUTFILE'", {}, 'file\tINTO OUTFILE\n'],
  ])('reads %s', async (_, sql, parameters, text) => {
    expect((await ask(sql, parameters as Record<string, string>)).text).toBe(text)
  })

  it.each([
    'INSERT INTO d.t VALUES (2, 2)',
    'INSERT INTO d.t SELECT 2, 2',
    "INSERT INTO FUNCTION file('/tmp/x', 'CSV', 'a Int8') VALUES (1)",
    'ALTER TABLE d.t ADD COLUMN c Int8',
    'ALTER TABLE d.t DELETE WHERE 1',
    'DELETE FROM d.t WHERE 1',
    "UPDATE d.t SET b = 'y' WHERE 1",
    'DROP TABLE d.t',
    'DROP DATABASE d',
    'TRUNCATE TABLE d.t',
    'RENAME TABLE d.t TO d.u',
    'DETACH TABLE d.t',
    'OPTIMIZE TABLE d.t',
    'CREATE TABLE d.u (a Int8) ENGINE = Memory',
    'CREATE VIEW d.w AS SELECT 1',
    'CREATE DATABASE e',
    'CREATE FUNCTION f AS (x) -> x',
    "BACKUP TABLE d.t TO File('/tmp/x')",
    'KILL QUERY WHERE 1',
    'SYSTEM SHUTDOWN',
    'SET readonly = 0',
    'SELECT 1 SETTINGS readonly = 0',
  ])('cannot write: %s', async (sql) => {
    expect(await ask(sql)).toMatchObject({ code: '164' })
    expect(await rows()).toBe('1\n')
  })

  it.each(['0', '00', '+0', 'false', ''])('cannot ask for more: readonly=%s', async (readonly) => {
    expect(await ask('SELECT 1', { readonly })).toMatchObject({ code: '164' })
    const answer = await fetch(`${engine.url}/?${new URLSearchParams({ readonly, query: 'SELECT 1' })}`)
    expect(answer.headers.get('x-clickhouse-exception-code')).toBe('164')
  })

  it('sends long statements', async () => {
    const sql = `SELECT count() FROM d.t WHERE a IN (${Array.from({ length: 200_000 }, (_, a) => a)})`
    expect((await ask(sql)).text).toMatch(/^Code: 62\..*Max query size exceeded/)
    expect((await ask(sql, { max_query_size: '10000000' })).text).toBe('1\n')
  })

  it.each([
    ['two statements', 'SELECT 1; DROP TABLE d.t'],
    // The engine takes these for quotes and comments, too.
    ['quotes of another kind', "SELECT 1 AS “'”; DROP TABLE d.t -- '"],
    ['comments in comments', "SELECT 1 /* /* */ ' */; DROP TABLE d.t -- '"],
    ['comments of another kind', "SELECT 1 // '\n; DROP TABLE d.t -- '"],
  ])('cannot hide a second statement: %s', async (_, sql) => {
    expect((await ask(sql)).status).toBe(400)
    expect(await rows()).toBe('1\n')
  })

  const readings: [string, Record<string, string>?][] = [
    ["SELECT * FROM file('SECRET', 'LineAsString')"],
    ["SELECT * FROM FILE('SECRET', 'LineAsString')"],
    ["DESCRIBE TABLE file('SECRET')"],
    ['SELECT * FROM `SECRET`'],
    ["SELECT * FROM 'SECRET'"],
    ["SELECT file('SECRET')"],
    ["SELECT `fi\\x6ce`('SECRET')"],
    ["SELECT “file”('SECRET')"],
    ["SELECT arrayMap(file, ['SECRET'])"],
    ["SELECT arrayMap({f:Identifier}, ['SECRET'])", { param_f: 'file' }],
    ["SELECT arrayMap({f:Identifier}, ['SECRET'])", { param_f: 'fi\\x6ce' }],
    ["SELECT * APPLY file FROM (SELECT 'SECRET')"],
    ["SELECT b FROM generateRandom('a Int8, b String ALIAS fi' || 'le(\\'SECRET\\')') LIMIT 1"],
    ["SELECT * FROM format(JSONEachRow, 'a Int8, b String DEFAULT fi' || 'le(\\'SECRET\\')', '{\"a\":1}')"],
    ["SELECT b FROM values('a Int8, b String ALIAS fi' || 'le(\\'SECRET\\')', 1)"],
    ["SELECT * FROM eval('SELECT fi' || 'le(\\'SECRET\\')')", { allow_experimental_eval_table_function: '1' }],
    ["SELECT 1 SETTINGS additional_result_filter = 'ignore(file(\\'SECRET\\')) = 0'"],
    ['SELECT 1 FORMAT Template', { format_template_row: 'SECRET', format_template_resultset: 'SECRET' }],
    ["SELECT formatRow('Template', 1) SETTINGS format_template_row = 'SECRET'"],
    ["SELECT * FROM filesystem('FOLDER')"],
    ["SELECT * FROM sqlite('SECRET', 't')"],
    ["INSERT INTO FUNCTION null('a Int8') FROM INFILE 'SECRET' FORMAT LineAsString"],
  ]
  it.each(readings)('cannot read files: %s', async (sql, parameters = {}) => {
    const fill = (text: string) => text.replace('SECRET', secret).replace('FOLDER', folder)
    const filled = Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, fill(value)]))
    const answer = await ask(fill(sql), filled)
    expect(answer.status, answer.text).not.toBe(200)
    expect(answer.text).not.toMatch(/nobody-may|secret\.txt\t/)
  })

  it.each([
    "SELECT * FROM url('WEBSITE', 'LineAsString')",
    "DESCRIBE TABLE url('WEBSITE/x.csv')",
    "SELECT * FROM s3('WEBSITE/bucket/key', 'LineAsString')",
    "SELECT * FROM remote('HOST', system.one)",
    "SELECT * FROM mysql('HOST', 'a', 'b', 'c', 'd')",
    'SELECT * FROM `WEBSITE`',
  ])('cannot reach other addresses: %s', async (sql) => {
    const host = `127.0.0.1:${(website.address() as AddressInfo).port}`
    const answer = await ask(sql.replace('WEBSITE', `http://${host}`).replace('HOST', host))
    expect(answer.status, answer.text).not.toBe(200)
    expect(visits).toBe(0)
  })

  it.each([
    "SELECT 1 INTO OUTFILE 'OUT'",
    "(SELECT 1) INTO OUTFILE 'OUT'",
    "SELECT 1 AS “'” INTO OUTFILE 'OUT' -- '",
    "SHOW TABLES INTO OUTFILE 'OUT'",
    "EXPLAIN SELECT 1 INTO OUTFILE 'OUT'",
    "SELECT 1 SETTINGS output_format_schema = 'OUT'",
  ])('cannot write files: %s', async (sql) => {
    const answer = await ask(sql.replace('OUT', join(folder, 'out')))
    expect(answer.status, answer.text).not.toBe(200)
    expect(await readdir(folder)).not.toContain('out')
  })

  it('gets the words of the engine for a mistake', async () => {
    const { text } = await ask('SELECT 1 FRM x')
    expect(text).toMatch(
      /^Code: 62\. DB::Exception: Syntax error: failed at position 14 \(x\): .*\(SYNTAX_ERROR\) \(version/,
    )
    expect(text).not.toContain('formatQuery')
  })
})

it('wants the password that is set for analysts, and no other for Weir', async () => {
  const path = await mkdtemp(join(tmpdir(), 'weir-analyst-'))
  const guarded = await startEngine(path, { CLICKHOUSE_PASSWORD: 'for-analysts' })
  const statusFor = async (credentials: Record<string, string>) =>
    (await fetch(`${guarded.url}/?${new URLSearchParams({ query: 'SELECT 1', ...credentials })}`)).status
  expect(await statusFor({})).toBe(403)
  expect(await statusFor({ password: 'for-analysts' })).toBe(200)
  expect(await statusFor({ user: 'weir', password: 'for-analysts' })).toBe(403)
  expect(await statusFor({ user: 'weir', password: 'secret' })).toBe(200)
  expect(await guarded.kill('SIGTERM')).toBe(0)
  await rm(path, { recursive: true, force: true })
})
