import { groupBy } from '#platform/group-by.js'
import type { Log } from '#platform/health/log.js'
import type { Kafka, PartitionReader } from '#platform/kafka/kafka.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import type { Reader } from '#rejections/find-rejections.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { stateTableOf } from '#schemas/derive/clickhouse.js'
import { acceptedTopic, database, entityKey, rejectedTopic, rejectionsLog } from '#schemas/derive/names.js'
import { type Layout, partitionsOf } from '#schemas/derive/topics.js'
import { createReads } from '../reads.js'
import type { TailMessage } from './tail.js'

/** An organisation's last messages on a topic, wherever on it they lie. Where they cannot be looked for now, none. */
export type FindOlder = (topic: string, orgId: string, most: number) => Promise<TailMessage[]>

/** Where ClickHouse knows what is on a topic: the id in its keys, and when each event was decided. */
type Source = { table: string; id: string; at: string }
type Written = { key: string; at: number }

const answerWithin = 2_000
const stopReadingAfter = 1_500
// An event is published within moments of its decision: behind that moment no more than this is read for one.
const mostBehind = 20_000

/**
 * The end of a topic may be all of other organisations. ClickHouse says when an organisation's last records were decided, and Kafka at
 * which offset a moment lies. Not for weir.waiting, which ClickHouse does not hold as it is.
 */
export const createFindOlder = (deps: {
  kafka: Pick<Kafka, 'withPartitionReader'>
  clickhouse: Reader
  catalogue: Catalogue
  layout: () => Layout
  log: Log
}): FindOlder => {
  const sources = new Map<string, Source>([
    [rejectedTopic, { table: rejectionsLog, id: 'batch_id', at: 'rejected_at' }],
    ...[...deps.catalogue.all.values()].map((type): [string, Source] => [
      acceptedTopic(type.type),
      { table: stateTableOf(type), id: type.id, at: 'accepted_at' },
    ]),
  ])
  const inTurn = createReads(answerWithin, 'topics', { atOnce: 4, ofOne: 1 })

  const lastWritten = async ({ table, id, at }: Source, orgId: string, most: number): Promise<Written[]> => {
    const rows = await deps.clickhouse.query<{ id: string; at: string }>(
      `select toString(\`${id}\`) as id, toUnixTimestamp64Milli(max(${at})) as at
      from ${database}.${table} where org_id = {org:String}
      group by id order by at desc limit {most:UInt32}`,
      { org: orgId, most },
    )
    return rows.map((row) => ({ key: entityKey(orgId, row.id), at: Number(row.at) }))
  }

  const find: FindOlder = async (topic, orgId, most) => {
    const source = sources.get(topic)
    const written = source ? await lastWritten(source, orgId, most) : []
    const partitions = partitionsOf(deps.layout(), topic)
    const stopAt = performance.now() + stopReadingAfter
    const mayGoOn = () => performance.now() < stopAt
    const found = [...groupBy(written, ({ key }) => partitionOf(key, partitions))].map(async ([partition, sought]) => {
      const messages = await deps.kafka.withPartitionReader({ topic, partition, ms: answerWithin }, (reader) =>
        readWritten(reader, sought, mayGoOn),
      )
      return messages.map((message) => ({ ...message, partition }))
    })
    return (await Promise.all(found)).flat()
  }

  return async (topic, orgId, most) => {
    try {
      const found = await inTurn(orgId, () => find(topic, orgId, most))
      return 'error' in found ? [] : found
    } catch (error) {
      deps.log.warn({ err: error, topic }, 'older events could not be looked for')
      return []
    }
  }
}

/** The messages that were written under these keys, the newest first: from the moment at which each was decided, until it is met. */
export const readWritten = async (
  reader: PartitionReader,
  sought: readonly Written[],
  mayGoOn: () => boolean,
): Promise<Omit<TailMessage, 'partition'>[]> => {
  const keys = new Set(sought.map(({ key }) => key))
  const found = new Map<number, Omit<TailMessage, 'partition'>>()
  const isFound = ({ key, at }: Written): boolean =>
    [...found.values()].some((message) => message.key === key && message.timestamp >= at)
  for (const one of sought) {
    let from = isFound(one) ? undefined : await reader.offsetAt(one.at)
    let left = mostBehind
    while (from !== undefined && left > 0 && mayGoOn()) {
      const read = await reader.read(from)
      if (!read) break
      for (const message of read.messages) if (keys.has(message.key ?? '')) found.set(message.offset, message)
      left -= read.messages.length
      from = isFound(one) ? undefined : read.next
    }
  }
  return [...found.values()]
}
