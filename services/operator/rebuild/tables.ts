import type { Catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import { currentFeed, currentTable, logTable, rejectionsTable, waitingTable } from '#schemas/derive/clickhouse.js'
import * as names from '#schemas/derive/names.js'
import { hasVersions, type RecordType } from '#schemas/record.js'
import { readName } from '../command/arguments.js'

const { database } = names

/** A table that can be made anew, and the topic that it comes from. */
export type Table = {
  /** As the operator calls it: a type's path segment, `rejections` or `waiting`. */
  name: string
  topic: string
  schema: { namespace: string; name: string }
  view: string
  log: string
  /** The new table while it is filled, the old one after the exchange; and the view that copies into it what the sink writes. */
  rebuilt: string
  copier: string
  createRebuilt: string
  /** Two expressions on its rows: the key that the row's event has on the topic, and when it was decided. */
  key: string
  decidedAt: string
  /** The table of the newest versions beside the log, where the type has versions. It is made anew together with the log. */
  current: CurrentTable | undefined
}

type CurrentTable = {
  /** The columns that name a record. */
  id: string
  name: string
  rebuilt: string
  /** The view that copies from the rebuilt log into the rebuilt table. */
  feed: string
  createRebuilt: string
  createFeed: string
}

/** The tables of these types; of all types where none is named. */
export const tablesOf = (catalogue: Catalogue, types: readonly string[]): Table[] => {
  const schemas = schemasByTopic(catalogue.all.values())
  const sourceOf = (topic: string): Source => ({ topic, schema: schemas.get(topic) as Table['schema'] })
  const all = [
    ...[...catalogue.all.values()].map((type) => recordsOf(type, sourceOf(names.acceptedTopic(type.type)))),
    rejectionsOf(sourceOf(names.rejectedTopic)),
    waitingOf(sourceOf(names.waitingTopic)),
  ]
  const known = all.map(({ name }) => name)
  const wanted = types.map((name) => readName('type', name, known))
  return wanted.length === 0 ? all : all.filter(({ name }) => wanted.includes(name))
}

type Source = Pick<Table, 'topic' | 'schema'>

const recordsOf = (type: RecordType, source: Source): Table => ({
  ...source,
  name: type.type,
  ...namesOf(names.viewOf(type.type), names.logTableOf(type.type)),
  createRebuilt: logTable(type, rebuiltOf(names.logTableOf(type.type))),
  key: `concat(org_id, '/', toString(\`${type.id}\`))`,
  decidedAt: 'accepted_at',
  current: hasVersions(type) ? currentOf(type) : undefined,
})

const currentOf = (type: RecordType): CurrentTable => {
  const current = names.currentTableOf(type.type)
  const feed = rebuiltOf(names.currentFeedOf(type.type))
  return {
    id: `org_id, \`${type.id}\``,
    name: `${database}.${current}`,
    rebuilt: `${database}.${rebuiltOf(current)}`,
    feed: `${database}.${feed}`,
    createRebuilt: currentTable(type, rebuiltOf(current)),
    createFeed: currentFeed(type, { feed, log: rebuiltOf(names.logTableOf(type.type)), current: rebuiltOf(current) }),
  }
}

const rejectionsOf = (source: Source): Table => ({
  ...source,
  name: names.rejectionsView,
  ...namesOf(names.rejectionsView, names.rejectionsLog),
  createRebuilt: rejectionsTable(rebuiltOf(names.rejectionsLog)),
  // A message that was set aside has no organisation, and its time was chosen by a stranger: it may be any time at all.
  key: `if(org_id = '', toString(batch_id), concat(org_id, '/', toString(batch_id)))`,
  decidedAt: `if(org_id = '', toDateTime64(0, 3, 'UTC'), rejected_at)`,
  current: undefined,
})

const waitingOf = (source: Source): Table => ({
  ...source,
  name: names.waitingView,
  ...namesOf(names.waitingView, names.waitingLog),
  createRebuilt: waitingTable(rebuiltOf(names.waitingLog)),
  key: `concat(org_id, '/', toString(id))`,
  decidedAt: 'changed_at',
  current: undefined,
})

const rebuiltOf = (log: string): string => `${log}_rebuilt`

const namesOf = (view: string, log: string): Pick<Table, 'view' | 'log' | 'rebuilt' | 'copier'> => ({
  view: `${database}.${view}`,
  log: `${database}.${log}`,
  rebuilt: `${database}.${rebuiltOf(log)}`,
  copier: `${database}.${rebuiltOf(log)}_copier`,
})
