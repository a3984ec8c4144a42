import type { ClickHouse } from '#platform/clickhouse.js'
import type { Received } from '#platform/kafka/kafka.js'
import { isUuid } from '#schemas/uuid.js'
import { createHeadDecoder } from '../command/decoder.js'
import type { Parts } from '../command/servers.js'
import type { Table } from './tables.js'

/**
 * Records that are gone, by key: the newest message, or an earlier one, had no value. With each the first event that came after that;
 * null where none did. What is older than that event is no longer true.
 */
export type GoneRecords = Map<string, Buffer | null>

/** Notes a message, in the order of the topic. */
export const noteGone = (gone: GoneRecords, { key, value }: Pick<Received, 'key' | 'value'>): void => {
  if (key === null) return
  if (value === null) gone.set(key, null)
  // Copied: the value is a piece of all that was fetched with it, which would be held too.
  else if (gone.get(key) === null) gone.set(key, Buffer.from(value))
}

/** Up to which version the rows of each of these records are to be removed. */
export const goneUntil = async (
  { registry, table }: Pick<Parts, 'registry'> & { table: Table },
  gone: GoneRecords,
  newestOf: (key: string) => number,
): Promise<Map<string, number>> => {
  const decode = createHeadDecoder<{ version: number }>(registry, table.schema, ['version'])
  const until = new Map<string, number>()
  for (const [key, first] of gone) {
    const head = first && (await decode(first))
    until.set(key, head ? head.version - 1 : newestOf(key))
  }
  return until
}

/** The newest version of each of these records in a table. */
export const newestIn = async (
  { clickhouse, table }: { clickhouse: ClickHouse; table: Table },
  keys: Iterable<string>,
): Promise<Map<string, number>> => {
  const newest = new Map<string, number>()
  for (const some of packsOf(keys)) {
    const rows = await clickhouse.query<{ key: string; version: string }>(
      `select ${table.key} as key, max(version) as version from ${table.log}
      where (${table.id}) in (${namesOf(some)}) group by key`,
    )
    for (const { key, version } of rows) newest.set(key, Number(version))
  }
  return newest
}

/** Deletes rows up to a version of each record. On a cluster each server deletes what it holds. */
export const removeGone = async (
  { clickhouse, table }: { clickhouse: ClickHouse; table: Table },
  tables: readonly (string | undefined)[],
  until: ReadonlyMap<string, number>,
): Promise<void> => {
  for (const keys of packsOf(until.keys())) {
    const versions = keys.map((key) => until.get(key) ?? 0)
    const isOld = `version <= transform(${table.key}, [${keys.map((key) => `'${key}'`)}], cast([${versions}], 'Array(UInt64)'), toUInt64(0))`
    for (const name of tables.filter((each) => each !== undefined))
      await clickhouse.command(`delete from ${name}${table.on} where (${table.id}) in (${namesOf(keys)}) and ${isOld}`)
  }
}

const keysAtOnce = 1000
const orgPattern = /^[a-z0-9-]+$/

/** Written into statements, because a thousand ids are too long for an address: only what cannot be mistaken for SQL. */
const packsOf = (keys: Iterable<string>): string[][] => {
  const safe = [...keys].filter((key) => {
    const [org = '', id = '', ...more] = key.split('/')
    return more.length === 0 && orgPattern.test(org) && isUuid(id)
  })
  return Array.from({ length: Math.ceil(safe.length / keysAtOnce) }, (_, n) =>
    safe.slice(n * keysAtOnce, (n + 1) * keysAtOnce),
  )
}

const namesOf = (keys: readonly string[]): string => keys.map((key) => `('${key.split('/').join("','")}')`).join(',')
