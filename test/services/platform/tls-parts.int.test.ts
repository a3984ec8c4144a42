import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '#ledger/migrate.js'
import { createClickHouse } from '#platform/clickhouse.js'
import { createPool, ping } from '#platform/postgres/postgres.js'
import { readAccess } from '#platform/process/access.js'
import { readConfig } from '#platform/process/config.js'
import { partVariables } from '#platform/process/part-variables.js'
import { createRegistry } from '#platform/registry.js'
import { createFreshDatabase } from '../../support/fresh-database.js'
import { sharedParts } from '../../support/shared-parts.js'
import { openHttpsFront, openPostgresFront, type TlsFront } from '../../support/tls-front.js'
import { makeCertificate } from '../edge/network/certificates.js'

const parts = sharedParts
const log = pino({ level: 'silent' })
let folder = ''
let caFile = ''
const closing: (() => unknown)[] = []
let certificate: Awaited<ReturnType<typeof makeCertificate>>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-tls-parts-'))
  closing.push(() => rm(folder, { recursive: true }))
  certificate = await makeCertificate('parts')
  caFile = join(folder, 'ca.pem')
  await writeFile(caFile, certificate.cert)
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

const accessOf = (env: Record<string, string>) =>
  readAccess(readConfig({ type: 'object', properties: partVariables }, env), ['registry', 'postgres', 'clickhouse'])
const opened = async (front: Promise<TlsFront>): Promise<string> => {
  const { url, close } = await front
  closing.push(close)
  return url
}

describe('the schema registry', () => {
  const schema = { type: 'record', name: 'Seen', fields: [{ name: 'at', type: 'long' }] }
  const registryOf = (env: Record<string, string>) => {
    const { registry } = accessOf(env)
    return createRegistry(registry.url, registry)
  }

  it.each([
    {
      way: 'a user and a password',
      authorization: `Basic ${Buffer.from('weir:secret').toString('base64')}`,
      login: { SCHEMA_REGISTRY_USERNAME: 'weir', SCHEMA_REGISTRY_PASSWORD: 'secret' },
    },
    { way: 'a token', authorization: 'Bearer abc', login: { SCHEMA_REGISTRY_TOKEN: 'abc' } },
  ])('is used over TLS with $way', async ({ authorization, login }) => {
    const url = await opened(openHttpsFront(parts.SCHEMA_REGISTRY_URL, certificate, authorization))
    const registry = registryOf({ SCHEMA_REGISTRY_URL: url, SCHEMA_REGISTRY_CA_FILE: caFile, ...login })
    await registry.ping()
    await registry.register('tls-parts-value', schema, 'FULL_TRANSITIVE')
    const encode = await registry.encoder<{ at: number }>('tls-parts-value', schema)
    // A second one asks the registry for the schema that the message was written with.
    const other = registryOf({ SCHEMA_REGISTRY_URL: url, SCHEMA_REGISTRY_CA_FILE: caFile, ...login })
    expect(await other.decoder<{ at: number }>(schema)(encode({ at: 7 }))).toEqual({ at: 7 })
  })

  it('says in one line what to change', async () => {
    const url = await opened(openHttpsFront(parts.SCHEMA_REGISTRY_URL, certificate, 'Bearer abc'))
    const wrong = registryOf({
      SCHEMA_REGISTRY_URL: url,
      SCHEMA_REGISTRY_CA_FILE: caFile,
      SCHEMA_REGISTRY_TOKEN: 'wrong',
    })
    const refusal =
      'the schema registry refuses the login (401): check SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD, or SCHEMA_REGISTRY_TOKEN'
    await expect(wrong.ping()).rejects.toThrow(refusal)
    await expect(wrong.encoder('tls-parts-value', schema)).rejects.toThrow(refusal)
    await expect(registryOf({ SCHEMA_REGISTRY_URL: url }).ping()).rejects.toThrow(
      /^the schema registry has a certificate of an authority that is not trusted here .* in SCHEMA_REGISTRY_CA_FILE$/,
    )
    const tls = parts.SCHEMA_REGISTRY_URL.replace('http:', 'https:')
    await expect(registryOf({ SCHEMA_REGISTRY_URL: tls }).ping()).rejects.toThrow(
      'write http:// in SCHEMA_REGISTRY_URL',
    )
    const plain = url.replace('https:', 'http:')
    await expect(registryOf({ SCHEMA_REGISTRY_URL: plain }).ping()).rejects.toThrow(
      'write https:// in SCHEMA_REGISTRY_URL',
    )
  })
})

describe('ClickHouse', () => {
  const clickhouseOf = (env: Record<string, string>) => {
    const { clickhouse } = accessOf(env)
    const client = createClickHouse(clickhouse.url, clickhouse)
    closing.push(client.close)
    return client
  }

  it('is used over TLS', async () => {
    const url = await opened(openHttpsFront(parts.CLICKHOUSE_URL, certificate))
    const client = clickhouseOf({ CLICKHOUSE_URL: url, CLICKHOUSE_CA_FILE: caFile })
    await client.ping()
    expect(await client.query('select 1 as one')).toEqual([{ one: 1 }])
  })

  it('says in one line what to change', async () => {
    const url = await opened(openHttpsFront(parts.CLICKHOUSE_URL, certificate))
    await expect(clickhouseOf({ CLICKHOUSE_URL: url }).ping()).rejects.toThrow(
      /^ClickHouse has a certificate of an authority that is not trusted here .* in CLICKHOUSE_CA_FILE$/,
    )
    const tls = parts.CLICKHOUSE_URL.replace('http:', 'https:')
    await expect(clickhouseOf({ CLICKHOUSE_URL: tls }).ping()).rejects.toThrow('write http:// in CLICKHOUSE_URL')
    const plain = url.replace('https:', 'http:')
    await expect(clickhouseOf({ CLICKHOUSE_URL: plain }).ping()).rejects.toThrow('write https:// in CLICKHOUSE_URL')
  })
})

describe('Postgres', () => {
  const poolOf = (env: Record<string, string>) => {
    const pool = createPool(accessOf(env).postgres, log, 1)
    closing.push(() => pool.end())
    return pool
  }

  it('is used over TLS, by its migrations too', async () => {
    const database = await createFreshDatabase(parts.POSTGRES_URL)
    closing.push(database.drop)
    const url = await opened(openPostgresFront(database.url, certificate))
    const { postgres } = accessOf({ POSTGRES_URL: url, POSTGRES_CA_FILE: caFile })
    expect((await migrate(postgres)).run).toBeGreaterThan(0)
    const pool = createPool(postgres, log, 1)
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    await pool.end()
  })

  it('says in one line what to change', async () => {
    const url = await opened(openPostgresFront(parts.POSTGRES_URL, certificate))
    const unknown = poolOf({ POSTGRES_URL: `${url}?sslmode=verify-full` })
    await expect(ping(unknown)).rejects.toThrow(
      /^Postgres has a certificate of an authority that is not trusted here .* in POSTGRES_CA_FILE$/,
    )
    const noTls = poolOf({ POSTGRES_URL: parts.POSTGRES_URL, POSTGRES_CA_FILE: caFile })
    await expect(ping(noTls)).rejects.toThrow('Postgres does not speak TLS there: leave POSTGRES_CA_FILE out')
    const wrong = new URL(parts.POSTGRES_URL)
    wrong.password = 'wrong'
    await expect(ping(poolOf({ POSTGRES_URL: wrong.href }))).rejects.toThrow(
      /^Postgres refuses the login \(.*\): check the user and password in POSTGRES_URL$/,
    )
  })
})
