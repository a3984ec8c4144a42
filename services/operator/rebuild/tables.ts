import type { Catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import { allChanged } from '#schemas/derive/clickhouse/kept.js'
import { onCluster, oneServer, type Placement, replicaPath } from '#schemas/derive/clickhouse/placement.js'
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
  createRebuilt: string[]
  /** The two tables that hold the rows. On one server they are the log and the rebuilt one themselves. */
  stored: { log: string; rebuilt: string }
  /** Follows the name of a table in statements that every server of a cluster has to run. */
  on: string
  /** Two expressions on its rows: the key that the row's event has on the topic, and when it was decided. */
  key: string
  decidedAt: string
  /** The columns that name a record; undefined where the rows are not of records. */
  id: string | undefined
  /** The table of the newest versions beside the log, where the type has versions. It is made anew together with the log. */
  current: CurrentTable | undefined
  /** Says that all of its rows may be others now: marts are made anew. */
  noteChanged: string[]
}

type CurrentTable = {
  name: string
  rebuilt: string
  stored: { name: string; rebuilt: string }
  /** The view that copies from the rebuilt log into the rebuilt table. */
  feed: string
  createRebuilt: string[]
  createFeed: string
}

/** The tables of these types; of all types where none is named. */
export const tablesOf = (catalogue: Catalogue, types: readonly string[], cluster?: string): Table[] => {
  const placed = cluster === undefined ? oneServer : onCluster(cluster, newPath)
  const schemas = schemasByTopic(catalogue.all.values())
  const sourceOf = (topic: string): Source => ({ topic, schema: schemas.get(topic) as Table['schema'] })
  const all = [
    ...[...catalogue.all.values()].map((type) => recordsOf(type, sourceOf(names.acceptedTopic(type.type)), placed)),
    rejectionsOf(sourceOf(names.rejectedTopic), placed),
    waitingOf(sourceOf(names.waitingTopic), placed),
  ]
  const known = all.map(({ name }) => name)
  const wanted = types.map((name) => readName('type', name, known))
  return wanted.length === 0 ? all : all.filter(({ name }) => wanted.includes(name))
}

type Source = Pick<Table, 'topic' | 'schema'>

// A table keeps its path in Keeper when it is exchanged, so each new one needs a path of its own.
const newPath = (rebuilt: string): string => replicaPath(rebuilt.replace(/_rebuilt$/, ''), `${Date.now()}`)

const recordsOf = (type: RecordType, source: Source, placed: Placement): Table => ({
  ...source,
  name: type.type,
  ...namesOf(names.viewOf(type.type), names.logTableOf(type.type), placed),
  createRebuilt: logTable(type, placed, rebuiltOf(names.logTableOf(type.type))),
  key: `concat(org_id, '/', toString(\`${type.id}\`))`,
  decidedAt: 'accepted_at',
  id: `org_id, \`${type.id}\``,
  current: hasVersions(type) ? currentOf(type, placed) : undefined,
  noteChanged: [allChanged(type.type)],
})

const currentOf = (type: RecordType, placed: Placement): CurrentTable => {
  const current = names.currentTableOf(type.type)
  const feed = rebuiltOf(names.currentFeedOf(type.type))
  const log = placed.stored(rebuiltOf(names.logTableOf(type.type)))
  const stored = placed.stored(rebuiltOf(current))
  return {
    name: `${database}.${current}`,
    rebuilt: `${database}.${rebuiltOf(current)}`,
    stored: { name: `${database}.${placed.stored(current)}`, rebuilt: `${database}.${stored}` },
    feed: `${database}.${feed}`,
    createRebuilt: currentTable(type, placed, rebuiltOf(current)),
    createFeed: currentFeed(type, placed, { feed, log, current: stored }),
  }
}

const rejectionsOf = (source: Source, placed: Placement): Table => ({
  ...source,
  name: names.rejectionsView,
  ...namesOf(names.rejectionsView, names.rejectionsLog, placed),
  createRebuilt: rejectionsTable(placed, rebuiltOf(names.rejectionsLog)),
  // A message that was set aside has no organisation, and its time was chosen by a stranger: it may be any time at all.
  key: `if(org_id = '', toString(batch_id), concat(org_id, '/', toString(batch_id)))`,
  decidedAt: `if(org_id = '', toDateTime64(0, 3, 'UTC'), rejected_at)`,
  id: undefined,
  current: undefined,
  noteChanged: [],
})

const waitingOf = (source: Source, placed: Placement): Table => ({
  ...source,
  name: names.waitingView,
  ...namesOf(names.waitingView, names.waitingLog, placed),
  createRebuilt: waitingTable(placed, rebuiltOf(names.waitingLog)),
  key: `concat(org_id, '/', toString(id))`,
  decidedAt: 'changed_at',
  id: undefined,
  current: undefined,
  noteChanged: [],
})

const rebuiltOf = (log: string): string => `${log}_rebuilt`

const namesOf = (
  view: string,
  log: string,
  { stored, on }: Placement,
): Pick<Table, 'view' | 'log' | 'rebuilt' | 'copier' | 'stored' | 'on'> => ({
  view: `${database}.${view}`,
  log: `${database}.${log}`,
  rebuilt: `${database}.${rebuiltOf(log)}`,
  copier: `${database}.${rebuiltOf(log)}_copier`,
  stored: { log: `${database}.${stored(log)}`, rebuilt: `${database}.${stored(rebuiltOf(log))}` },
  on,
})
