import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OperatorError } from '../../../../services/operator/command/operator-error.js'
import { withParts } from '../../../../services/operator/command/servers.js'
import { nowhere } from '../../../../services/operator/config.js'

const log = pino({ level: 'silent' })
// Nobody listens on port 1 of this machine.
const config = {
  POSTGRES_URL: 'postgres://weir:secret@127.0.0.1:1/weir',
  KAFKA_BROKERS: '127.0.0.1:1',
  SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1/registry',
  CLICKHOUSE_URL: 'http://weir:secret@127.0.0.1:1',
}
const postgresAway =
  'Postgres does not answer at postgres://weir@127.0.0.1:1/weir (connect ECONNREFUSED 127.0.0.1:1): ' +
  'is npm start running? POSTGRES_URL says where it is'

/** A ClickHouse that answers pings, and everything else with an error. */
let problem = ''
const clickhouse = createServer(({ url }, answer) => {
  if (url?.startsWith('/ping')) answer.end('Ok.\n')
  else answer.writeHead(500).end(problem)
})
let there = config
beforeAll(async () => {
  await new Promise<void>((resolve) => clickhouse.listen(0, '127.0.0.1', resolve))
  there = { ...config, CLICKHOUSE_URL: `http://127.0.0.1:${(clickhouse.address() as AddressInfo).port}` }
})
afterAll(() => new Promise((resolve) => clickhouse.close(resolve)))

describe('a failure of the work', () => {
  it('names the part that is away, without its password', async () => {
    const failing = withParts({ config, log }, ['pool'], ({ pool }) => pool.query('select 1'))
    await expect(failing).rejects.toThrow(new OperatorError(postgresAway))
  })

  it('is not blamed on a part that answers', async () => {
    const failing = withParts({ config: there, log }, ['clickhouse', 'pool'], ({ pool }) => pool.query('select 1'))
    await expect(failing).rejects.toThrow(new OperatorError(postgresAway))
    const query = withParts({ config, log }, ['clickhouse'], (parts) => parts.clickhouse.query('select 1'))
    await expect(query).rejects.toThrow('ClickHouse does not answer at http://weir@127.0.0.1:1 (')
  })

  it('names all parts that are away, a line for each', async () => {
    const failing = withParts({ config, log }, ['pool', 'registry'], ({ registry }) => registry.ping())
    await expect(failing).rejects.toThrow(
      `${postgresAway}\nthe schema registry does not answer at http://127.0.0.1:1/registry (`,
    )
  })

  it('is said in the words of the command for what ClickHouse refuses', async () => {
    problem = 'Code: 60. DB::Exception: Table weir.tags does not exist. (UNKNOWN_TABLE) (version 26.1)'
    const ask = (options = {}) =>
      withParts({ config: there, log }, ['clickhouse'], (parts) => parts.clickhouse.query('select 1'), options)
    await expect(ask()).rejects.toThrow('has no tables of Weir yet: run "weir provision" first')
    const words = { UNKNOWN_TABLE: (_: string, reason: string) => `not here: ${reason}` }
    await expect(ask({ words })).rejects.toThrow(/^not here: .*Table weir.tags does not exist/)
    problem = 'Code: 164. DB::Exception: default: Cannot execute query in readonly mode. (READONLY) (version 26.1)'
    await expect(ask()).rejects.toThrow('lets this user only read: name one who may write in CLICKHOUSE_URL')
  })

  it('stays as it is where it has nothing to do with the parts', async () => {
    const failure = new Error('a mistake')
    const failing = withParts({ config: there, log }, ['clickhouse'], () => Promise.reject(failure))
    await expect(failing).rejects.toBe(failure)
  })

  it('that says what to do is passed on', async () => {
    const failure = new OperatorError('do this')
    const failing = withParts({ config: there, log }, ['clickhouse'], () => Promise.reject(failure))
    await expect(failing).rejects.toBe(failure)
  })
})

it('says within 3 s that parts are away, before the work begins', async () => {
  const begun = Date.now()
  const names = ['pool', 'kafka', 'registry', 'clickhouse'] as const
  const failure = await withParts({ config, log }, names, () => Promise.resolve('begun')).catch((error) => error)
  expect(Date.now() - begun).toBeLessThan(3_000)
  expect(failure).toBeInstanceOf(OperatorError)
  expect(failure.message.split('\n')).toEqual([
    postgresAway,
    'Kafka does not answer at 127.0.0.1:1 (Connection error: connect ECONNREFUSED 127.0.0.1:1): ' +
      'is npm start running? KAFKA_BROKERS says where it is',
    expect.stringMatching(/^the schema registry does not answer at http:\/\/127\.0\.0\.1:1\/registry \(/),
    expect.stringMatching(/^ClickHouse does not answer at http:\/\/weir@127\.0\.0\.1:1 \(/),
  ])
})

it('waits longer for parts that are only just starting, where it is told to', async () => {
  const wait = (ms: number) => withParts({ config: there, log }, ['pool', 'clickhouse'], async () => {}, { wait: ms })
  await expect(wait(300)).rejects.toThrow(
    'Postgres does not answer at postgres://weir@127.0.0.1:1/weir after 0.3 s (connect ECONNREFUSED 127.0.0.1:1): ' +
      'is it running? POSTGRES_URL says where it is',
  )
})

it('refuses parts that nobody named where no system runs in the folder', async () => {
  const unnamed = { ...config, POSTGRES_URL: nowhere, KAFKA_BROKERS: nowhere, NO_SYSTEM_IN: '/clone/.data' }
  const opening = withParts({ config: unnamed, log }, ['pool', 'kafka', 'clickhouse'], () => Promise.resolve())
  await expect(opening).rejects.toThrow(
    new OperatorError(
      'no Weir runs in this folder (/clone/.data): start it with npm start, ' +
        'or name the parts of another system: POSTGRES_URL, KAFKA_BROKERS',
    ),
  )
  await withParts({ config: { ...unnamed, CLICKHOUSE_URL: there.CLICKHOUSE_URL }, log }, ['clickhouse'], () =>
    Promise.resolve(),
  )
})
