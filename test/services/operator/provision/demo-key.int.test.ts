import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { commandLine } from '#ledger/audit.js'
import { createKeyText, keyIdOf } from '#ledger/key-text.js'
import { revokeKey } from '#ledger/keys.js'
import { migrate } from '#ledger/migrate.js'
import { createPool, type Pool } from '#platform/postgres/postgres.js'
import { provisionDemoKey } from '../../../../services/operator/provision/demo-key.js'
import { createFreshDatabase } from '../../../support/fresh-database.js'
import { sharedParts } from '../../../support/shared-parts.js'

let database: Awaited<ReturnType<typeof createFreshDatabase>>
let pool: Pool
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-demo-key-'))
  database = await createFreshDatabase(sharedParts.POSTGRES_URL)
  pool = createPool(database.url, pino({ level: 'silent' }), 4)
  await migrate(database.url)
})

afterAll(async () => {
  await pool?.end()
  await database?.drop()
  await rm(folder, { recursive: true, force: true })
})

const keyIn = async (file: string): Promise<string> => (await readFile(file, 'utf8')).trim()

it('is made once and kept in a file for its owner alone', async () => {
  const file = join(folder, 'data', 'demo-key')
  const made = await provisionDemoKey(pool, { key: undefined, file })
  expect(made).toEqual({ keyId: keyIdOf(await keyIn(file)), from: 'new' })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await provisionDemoKey(pool, { key: undefined, file })).toEqual({ keyId: made.keyId, from: 'file' })
})

it('is made anew where the one in the file was revoked', async () => {
  const file = join(folder, 'revoked')
  const { keyId } = await provisionDemoKey(pool, { key: undefined, file })
  await revokeKey(pool, keyId, commandLine)
  const again = await provisionDemoKey(pool, { key: undefined, file })
  expect(again).toMatchObject({ from: 'new' })
  expect(keyIdOf(await keyIn(file))).toBe(again.keyId)
})

it('is one key for several that start together', async () => {
  const file = join(folder, 'crowd')
  const made = await Promise.all([1, 2, 3].map(() => provisionDemoKey(pool, { key: undefined, file })))
  expect(new Set(made.map(({ keyId }) => keyId)).size).toBe(1)
})

it('is the one in the environment, whatever its form', async () => {
  const file = join(folder, 'chosen')
  expect(await provisionDemoKey(pool, { key: 'chosen-by-hand', file })).toEqual({ keyId: 'demo', from: 'environment' })
  expect(await keyIn(file)).toBe('chosen-by-hand')
  expect(await provisionDemoKey(pool, { key: 'another-choice', file })).toEqual({ keyId: 'demo', from: 'environment' })
  const { key, keyId } = createKeyText()
  expect(await provisionDemoKey(pool, { key, file: undefined })).toEqual({ keyId, from: 'environment' })
})

it.each(['short', 'with a space', 'line\nbreak', 'schlüssel-wort'])('cannot be %j', async (key) => {
  await expect(provisionDemoKey(pool, { key, file: undefined })).rejects.toThrow('at least 8 visible ASCII characters')
})

it('stays ended once it was revoked', async () => {
  const { keyId } = await provisionDemoKey(pool, { key: 'soon-to-be-revoked', file: undefined })
  await revokeKey(pool, keyId, commandLine)
  await expect(provisionDemoKey(pool, { key: 'soon-to-be-revoked', file: undefined })).rejects.toThrow('is revoked')
})
