import { removeEntities } from '#ledger/entities.js'
import type { Counted } from '#ledger/erasures/erasures.js'
import { noteHoles } from '#ledger/erasures/holes.js'
import { keptConfigs } from '#ledger/erasures/topic-configs.js'
import { findGenerations, type Generation } from '#ledger/layout/layout.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import { groupBy } from '#platform/group-by.js'
import type { Log } from '#platform/health/log.js'
import { removeMessages, restoreConfigs } from '#platform/kafka/admin/removal.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import { placeOf } from '#platform/kafka/partitions.js'
import type { Producer } from '#platform/kafka/producer.js'
import type { Connection, Pool } from '#platform/postgres/postgres.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import * as names from '#schemas/derive/names.js'
import { hasVersions, type RecordType } from '#schemas/record.js'
import { untilRead } from '../erase/until-read.js'
import { createRests } from '../remove/giving-way.js'
import { holdingLanes, keysAtOnce } from '../remove/holding-lanes.js'
import type { KeptFrom } from './cutoffs.js'
import { countMessages, type OldMessage, readOldMessages } from './old-messages.js'
import { createOldRows } from './old-rows.js'

export type RetentionDeps = {
  pool: Pool
  kafka: Kafka
  registry: Pick<Registry, 'decoder'>
  clickhouse: ClickHouse
  producer: Pick<Producer, 'send'>
  catalogue: Catalogue
  place: { cluster?: string | undefined }
  signal: AbortSignal
  log: Log
}

const removedWithin = 30 * 60_000

/** What would go: messages of topics and rows of ClickHouse, by place. An event counts though its record may have a younger one. */
export const countOld = async (
  deps: Pick<RetentionDeps, 'kafka' | 'registry' | 'clickhouse' | 'catalogue' | 'place'>,
  all: readonly KeptFrom[],
): Promise<Counted[]> => {
  const rows = createOldRows(deps.clickhouse, deps.place)
  const counts = countMessages((await readOldMessages(deps, all)).messages)
  for (const cutoffs of all) counts.push(...(await rows.count(cutoffs)))
  return counts
}

/**
 * Removes records that are too old: from the topics, from the entity index, and from the tables. A run that was cut off anywhere is begun anew:
 * what it finds in the topics goes before what it is judged by.
 */
export const removeOld = async (
  deps: RetentionDeps,
  all: readonly KeptFrom[],
): Promise<{ removed: Counted[]; isAll: boolean; notYet: ReadonlySet<string> }> => {
  const { pool, kafka, signal, log } = deps
  await restoreConfigs({ kafka, kept: keptConfigs(pool) })
  const rows = createOldRows(deps.clickhouse, deps.place, createRests({ signal }))
  const { messages, isAll, notYet } = await readOldMessages(deps, all)
  log.info({ messages: messages.length }, 'removing what is too old')
  const generations = await findGenerations(pool)
  const gone = messages.filter((message) => !isVersioned(message))
  for (const cutoffs of all) {
    const own = messages.filter((message) => message.type === cutoffs.type && isVersioned(message))
    if (own.length > 0) gone.push(...(await publishGone({ ...deps, generations }, rows, cutoffs, own)))
  }
  await noteHoles(
    pool,
    null,
    gone.filter(({ topic }) => topic.startsWith(names.submittedTopic(''))),
  )
  const removals = [...groupBy(gone, placeOf).values()].map((here) => ({
    ...{ topic: here[0].topic, partition: here[0].partition },
    keys: new Set(here.filter((message) => !isVersioned(message)).map(({ key }) => key)),
    offsets: here.map(({ offset }) => offset),
  }))
  if (removals.length > 0)
    await removeMessages({ ...deps, kept: keptConfigs(pool) }, removals, {
      beforeCompaction: (until) => untilRead(deps, until),
      within: removedWithin,
      signal,
    })
  const removed = countMessages(gone)
  for (const cutoffs of all) removed.push(...(await rows.remove(cutoffs, signal)))
  return { removed, isAll, notYet }
}

/** Whether a message is an event of a record that may have a newer one. */
const isVersioned = ({ topic, type }: OldMessage): boolean =>
  topic === names.acceptedTopic(type.type) && hasVersions(type)

/**
 * Ends records whose newest version is too old, with a message without a value and out of the entity index, while nothing of the type is
 * decided: so no upload comes in between. Resolves to the events of these.
 */
const publishGone = async (
  deps: RetentionDeps & { generations: readonly Generation[] },
  rows: ReturnType<typeof createOldRows>,
  cutoffs: KeptFrom,
  events: readonly OldMessage[],
): Promise<OldMessage[]> => {
  const { type } = cutoffs
  const gone: OldMessage[] = []
  const byKey = [...groupBy(events, ({ key }) => key).values()]
  for (let from = 0; from < byKey.length; from += keysAtOnce) {
    const some = byKey.slice(from, from + keysAtOnce)
    await holdingLanes(deps, type, async (connection, deadline) => {
      const younger = await rows.findYounger(
        cutoffs,
        some.map(([{ key }]) => idOfKey(key)),
      )
      const old = some.filter(([{ key }]) => !younger.has(key))
      for (const [partition, here] of groupBy(old, ([event]) => event.partition))
        await deps.producer.send(
          names.acceptedTopic(type.type),
          partition,
          here.map(([{ key }]) => ({ key, value: null })),
          { deadline },
        )
      await forgetEntities(
        connection,
        deps.catalogue,
        type,
        old.map(([{ key }]) => key),
      )
      gone.push(...old.flat())
    })
  }
  return gone
}

const idOfKey = (key: string): string => key.slice(key.indexOf('/') + 1)

const forgetEntities = async (
  connection: Connection,
  catalogue: Catalogue,
  { type }: RecordType,
  keys: readonly string[],
): Promise<void> => {
  if (!catalogue.referenced.has(type) || keys.length === 0) return
  const entities = keys.map((key) => ({ orgId: names.orgOfKey(key), type, id: idOfKey(key) }))
  await removeEntities(connection, entities)
}
