import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { type Access, readAccess } from '#platform/process/access.js'
import { readConfig } from '#platform/process/config.js'
import { partVariables } from '#platform/process/part-variables.js'

const folder = mkdtempSync(join(tmpdir(), 'weir-access-'))
afterAll(() => rmSync(folder, { recursive: true }))
const fileWith = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const certificate = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----'
const ca = fileWith('ca.pem', `${certificate}\n`)
const all = ['kafka', 'registry', 'postgres', 'clickhouse'] as const

const read = (env: Record<string, string>): Access =>
  readAccess(readConfig({ type: 'object', properties: partVariables }, env), all)
const problemsOf = (env: Record<string, string>): string => {
  try {
    read(env)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

it('is plain and without a login where nothing says otherwise', () => {
  expect(read({})).toEqual({
    kafka: { brokers: '127.0.0.1:9092', sessionTimeout: 10_000 },
    registry: { url: 'http://127.0.0.1:8081/apis/ccompat/v7' },
    postgres: 'postgres://weir:weir@127.0.0.1:5432/weir',
    clickhouse: { url: 'http://127.0.0.1:8123' },
  })
})

it('takes each way to log in, and trusts the authority that is named', () => {
  expect(
    read({
      KAFKA_TLS: 'true',
      KAFKA_CA_FILE: ca,
      KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
      KAFKA_USERNAME: 'weir-edge',
      KAFKA_PASSWORD_FILE: fileWith('kafka', 'secret\n'),
      SCHEMA_REGISTRY_URL: 'https://registry',
      SCHEMA_REGISTRY_CA_FILE: ca,
      SCHEMA_REGISTRY_USERNAME: 'weir',
      SCHEMA_REGISTRY_PASSWORD: 'öffne:dich',
      POSTGRES_URL_FILE: fileWith('postgres', 'postgres://weir:secret@db/weir?sslmode=require\n'),
      POSTGRES_CA_FILE: ca,
      CLICKHOUSE_URL: 'https://weir:secret@ch:8443',
      CLICKHOUSE_CA_FILE: ca,
    }),
  ).toEqual({
    kafka: {
      brokers: '127.0.0.1:9092',
      tls: { ca: certificate },
      login: { mechanism: 'SCRAM-SHA-512', username: 'weir-edge', password: 'secret' },
      sessionTimeout: 10_000,
    },
    registry: {
      url: 'https://registry',
      ca: certificate,
      authorization: `Basic ${Buffer.from('weir:öffne:dich').toString('base64')}`,
    },
    postgres: `postgres://weir:secret@db/weir?sslmode=verify-full&sslrootcert=${encodeURIComponent(ca)}`,
    clickhouse: { url: 'https://weir:secret@ch:8443', ca: certificate },
  })
  expect(read({ SCHEMA_REGISTRY_TOKEN: 'abc' }).registry.authorization).toBe('Bearer abc')
  expect(read({ KAFKA_TLS: 'true' }).kafka).toMatchObject({ brokers: '127.0.0.1:9092', tls: {} })
  const token = { KAFKA_OAUTH_TOKEN_URL: 'https://sso/token', KAFKA_OAUTH_CLIENT_ID: 'edge' }
  expect(
    read({ ...token, KAFKA_SASL_MECHANISM: 'OAUTHBEARER', KAFKA_OAUTH_CLIENT_SECRET: 's', KAFKA_CA_FILE: ca }).kafka,
  ).toEqual({
    brokers: '127.0.0.1:9092',
    login: { mechanism: 'OAUTHBEARER', url: 'https://sso/token', clientId: 'edge', clientSecret: 's', ca: certificate },
    sessionTimeout: 10_000,
  })
})

it('names a secret that is given twice, and a file that is not there, empty or no certificate', () => {
  const twice = problemsOf({
    KAFKA_PASSWORD: 'a',
    KAFKA_PASSWORD_FILE: ca,
    POSTGRES_URL_FILE: join(folder, 'none'),
    SCHEMA_REGISTRY_TOKEN_FILE: fileWith('empty', '\n'),
  })
  expect(twice).toContain('KAFKA_PASSWORD and KAFKA_PASSWORD_FILE are both set: unset one of them')
  expect(twice).toContain(`POSTGRES_URL_FILE names ${join(folder, 'none')}, which cannot be read (ENOENT)`)
  expect(twice).toContain(`SCHEMA_REGISTRY_TOKEN_FILE names ${join(folder, 'empty')}, which is empty`)
  const file = fileWith('key.pem', 'not a certificate')
  expect(problemsOf({ CLICKHOUSE_URL: 'https://ch', CLICKHOUSE_CA_FILE: file })).toBe(
    `the environment is not right: CLICKHOUSE_CA_FILE names ${file}, which holds no certificate (PEM)`,
  )
})

it.each([
  [{ KAFKA_SASL_MECHANISM: 'PLAIN' }, 'KAFKA_SASL_MECHANISM=PLAIN also needs KAFKA_USERNAME and KAFKA_PASSWORD'],
  [
    { KAFKA_SASL_MECHANISM: 'OAUTHBEARER', KAFKA_OAUTH_CLIENT_ID: 'a', KAFKA_OAUTH_CLIENT_SECRET: 'b' },
    'KAFKA_SASL_MECHANISM=OAUTHBEARER also needs KAFKA_OAUTH_TOKEN_URL',
  ],
  [{ KAFKA_USERNAME: 'a' }, 'KAFKA_USERNAME would not be used: set KAFKA_SASL_MECHANISM, or unset it'],
  [{ KAFKA_SASL_MECHANISM: 'scram' }, 'KAFKA_SASL_MECHANISM must be equal to one of the allowed values'],
  [{ KAFKA_CA_FILE: ca }, 'KAFKA_CA_FILE is set, but TLS is not spoken: set KAFKA_TLS=true'],
  [{ SCHEMA_REGISTRY_USERNAME: 'a' }, 'SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD (or'],
  [{ SCHEMA_REGISTRY_URL: 'http://a:b@r' }, 'SCHEMA_REGISTRY_URL holds a user'],
  [
    { SCHEMA_REGISTRY_USERNAME: 'a', SCHEMA_REGISTRY_PASSWORD: 'b', SCHEMA_REGISTRY_TOKEN: 'c' },
    'SCHEMA_REGISTRY_TOKEN and SCHEMA_REGISTRY_USERNAME are both set',
  ],
  [{ CLICKHOUSE_CA_FILE: ca }, 'CLICKHOUSE_CA_FILE is set, but TLS is not spoken: write https:// in CLICKHOUSE_URL'],
  [{ POSTGRES_URL: 'postgres://db/weir?sslmode=disable', POSTGRES_CA_FILE: ca }, 'says sslmode=disable'],
])('refuses %j', (env, problem) => expect(problemsOf(env)).toContain(problem))
