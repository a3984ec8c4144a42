import type { ClickHouse } from '#platform/clickhouse.js'
import { reasonOf } from '#platform/health/health.js'
import type { Log } from '#platform/health/log.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import { createPool, orRefused, type Pool, ping } from '#platform/postgres/postgres.js'
import { readAccess } from '#platform/process/access.js'
import type { PartsConfig } from '#platform/process/part-variables.js'
import type { Registry } from '#platform/registry.js'
import { nowhere, type OperatorConfig } from '../config.js'
import { addressOf, askOnce, awayLine, type Part, refusedLine, waitForParts } from './ask-servers.js'
import { OperatorError } from './operator-error.js'

/** The parts that Weir runs on, each as a client of it. */
export type Parts = { pool: Pool; kafka: Kafka; registry: Registry; clickhouse: ClickHouse }
export type PartName = keyof Parts

export type PartsOptions = {
  /** How long parts may take that are only just starting, in milliseconds; without it they have to be there. */
  wait?: number | undefined
  /** How long ClickHouse may take for one statement, in milliseconds. */
  requestTimeout?: number
  /** For commands that can say more than the usual when ClickHouse refuses something or does not answer. */
  words?: Words
}

/** What is said to the operator, by ClickHouse's name for an error; AWAY where ClickHouse did not answer. */
export type Words = Readonly<Record<string, (address: string, reason: string) => string>>

/**
 * Opens these parts, runs work on them and closes them. A failure that an operator can put right becomes one line that names
 * the part. All parts are asked before the work begins: their clients would go on trying for half a minute.
 */
export const withParts = async <Name extends PartName, T>(
  { config, log }: { config: Addresses; log: Log },
  names: readonly Name[],
  work: (parts: Pick<Parts, Name>) => Promise<T>,
  options: PartsOptions = {},
): Promise<T> => {
  const variables = names.map((name) => variableOf[name])
  requireAddresses(config, variables)
  const opened = await Promise.all(names.map((name) => openers[name](config, log, options)))
  const clients = Object.fromEntries(opened.map(({ client }, i) => [names[i], client]))
  try {
    await waitForParts(opened, options.wait)
    return await work(clients as Pick<Parts, Name>)
  } catch (error) {
    throw await explain(error, opened)
  } finally {
    for (const { close } of opened) await close?.()
  }
}

/** Throws, in one line, where `npm run weir` found no system in its folder and no variable names these addresses. */
export const requireAddresses = <Name extends string>(
  config: Readonly<Record<Name, string> & { NO_SYSTEM_IN?: string }>,
  variables: readonly Name[],
): void => {
  const unknown = variables.filter((variable) => config[variable] === nowhere)
  if (unknown.length === 0) return
  throw new OperatorError(
    `no Weir runs in this folder (${config.NO_SYSTEM_IN}): start it with npm start, ` +
      `or name the parts of another system: ${unknown.join(', ')}`,
  )
}

/** One line for the operator; the error itself where that says more. */
const explain = async (error: unknown, opened: readonly Opened[]): Promise<unknown> => {
  if (error instanceof OperatorError) return error
  const refused = refusedLine(error, opened)
  if (refused !== undefined) return new OperatorError(refused)
  for (const part of opened) {
    const line = part.lineFor?.(error, part)
    if (line !== undefined) return new OperatorError(line)
  }
  // A refused connection does not say whose it was, so all are asked.
  const away = (await Promise.all(opened.map((part) => askOnce(part)))).filter((line) => line !== undefined)
  if (away.length > 0) return new OperatorError(away.join('\n'))
  const isCut = cutConnection.includes(codeOf(error))
  return isCut ? new OperatorError(`a part was away for a moment (${reasonOf(error)}): try again`) : error
}

const cutConnection = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'EPIPE']

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? '')

const variableOf = {
  pool: 'POSTGRES_URL',
  kafka: 'KAFKA_BROKERS',
  registry: 'SCHEMA_REGISTRY_URL',
  clickhouse: 'CLICKHOUSE_URL',
} as const satisfies Record<PartName, keyof OperatorConfig>

type Addresses = Pick<OperatorConfig, (typeof variableOf)[PartName] | 'NO_SYSTEM_IN'> & PartsConfig

type Opened<Client = unknown> = Part & { client: Client; close?: () => Promise<void> }

// The clients are loaded only when a part is opened: a command that needs Postgres alone takes 0.55 s instead of 0.8.
const openers: {
  [Name in PartName]: (config: Addresses, log: Log, options: PartsOptions) => Promise<Opened<Parts[Name]>>
} = {
  pool: async (config, log) => {
    const pool = createPool(readAccess(config, ['postgres']).postgres, log, 2)
    return {
      ...{ name: 'Postgres', address: addressOf(config.POSTGRES_URL), variable: 'POSTGRES_URL' },
      ...{ client: pool, check: () => ping(pool), lineFor: postgresLine, close: () => pool.end() },
    }
  },
  kafka: async (config, log) => {
    const { createKafka } = await import('#platform/kafka/kafka.js')
    const { kafka: access } = readAccess(config, ['kafka'])
    const kafka = createKafka({ ...access, clientId: 'weir-operator', log })
    // Without retries of its own: those who ask say how long.
    const asked = createKafka({ ...access, clientId: 'weir-operator', log, retries: 0 })
    const check = () => asked.withAdmin((admin) => admin.describeCluster())
    const address = access.brokers
    return { name: 'Kafka', address, variable: 'KAFKA_BROKERS', check, client: kafka, lineFor: kafkaLine }
  },
  registry: async (config) => {
    const { createRegistry } = await import('#platform/registry.js')
    const { registry: access } = readAccess(config, ['registry'])
    const registry = createRegistry(access.url, access)
    return {
      ...{ name: 'the schema registry', address: addressOf(access.url), variable: 'SCHEMA_REGISTRY_URL' },
      check: registry.ping,
      client: registry,
    }
  },
  clickhouse: async (config, _, { requestTimeout = 300_000, words = {} }) => {
    const { createClickHouse } = await import('#platform/clickhouse.js')
    const { clickhouse: access } = readAccess(config, ['clickhouse'])
    const clickhouse = createClickHouse(access.url, { ...access, requestTimeout })
    return {
      ...{ name: 'ClickHouse', address: addressOf(access.url), variable: 'CLICKHOUSE_URL', check: clickhouse.ping },
      away: words.AWAY,
      client: clickhouse,
      lineFor: (error, { address }) => clickHouseLine(error, address, words),
      close: clickhouse.close,
    }
  },
}

const postgresLine = (error: unknown, part: Part): string | undefined => {
  const { address } = part
  const refused = refusedLine(orRefused(error), [part])
  if (refused !== undefined) return refused
  const reason = reasonOf(error)
  // A connection that was not made in time has no code, only these words.
  if (/connection t(imeout|erminated)|timeout exceeded when trying to connect/i.test(reason))
    return awayLine(part, reason)
  switch (codeOf(error)) {
    case '57P01':
    case '57P03':
      return awayLine(part, reason)
    case '3D000':
      return `Postgres at ${address} has no such database (${reason}): check POSTGRES_URL or create it`
    case '42703':
      return `Postgres at ${address} has tables of an older Weir (${reason}): run "weir provision" first`
    case '42P01':
    case '3F000':
      return `Postgres at ${address} has no tables of Weir yet (${reason}): run "weir provision" first`
    default:
      return undefined
  }
}

const kafkaLine = (error: unknown, part: Part): string | undefined => {
  const { name } = error as Error
  if (!/^KafkaJS(Connection|NumberOfRetries|BrokerNotFound|RequestTimeout)/.test(name)) return undefined
  const [reason = ''] = reasonOf(error).split(': Connection error')
  return awayLine(part, reason)
}

const clickHouseLine = (error: unknown, address: string, words: Words): string | undefined => {
  const { type } = error as { type?: unknown }
  if (typeof type !== 'string' || type === 'AWAY') return undefined
  const [reason = ''] = reasonOf(error).split('\n')
  return { ...usualWords, ...words }[type]?.(address, reason)
}

const notProvisioned = (address: string): string =>
  `ClickHouse at ${address} has no tables of Weir yet: run "weir provision" first`

const usualWords: Words = {
  AUTHENTICATION_FAILED: (address) =>
    `ClickHouse at ${address} refuses the login: check the user and password in CLICKHOUSE_URL`,
  READONLY: (address) =>
    `ClickHouse at ${address} lets this user only read: name one who may write in CLICKHOUSE_URL ` +
    '(that of npm start: user weir, password in .data/clickhouse-password)',
  UNKNOWN_TABLE: notProvisioned,
  UNKNOWN_DATABASE: notProvisioned,
}
