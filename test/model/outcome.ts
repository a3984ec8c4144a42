import { placeOf } from '#platform/kafka/partitions.js'
import { acceptedTopic, entityKey, rejectedTopic, verdictsTopic } from '#schemas/derive/names.js'
import type { AcceptedEvent, RejectedEvent, SubmittedBatch } from '#schemas/events.js'
import { types } from './edge.js'
import type { Integrity } from './integrity.js'
import type { Log } from './log.js'
import type { Judged, Oracle } from './oracle.js'
import type { Postgres } from './postgres.js'
import type { Published } from './publishing.js'
import { Violation } from './rules.js'
import type { Sink } from './sink.js'

/** At the end, when no work is left: all that was submitted is decided, published and shown as the oracle says. */
export const checkOutcome = (system: {
  submitted: Log<SubmittedBatch>
  published: Log<Published>
  oracle: Oracle
  postgres: Postgres
  integrity: Integrity
  sink: Sink
}): void => {
  const { submitted, published, oracle, postgres, integrity, sink } = system
  for (const place of integrity.places) {
    const end = submitted.end(place.topic, place.partition)
    const [cursor, done] = [postgres.cursors.get(placeOf(place)), integrity.committed.get(placeOf(place))]
    if (end > 0 && (cursor !== end || done !== end))
      throw new Violation(`${placeOf(place)} is stuck: the end is ${end}, the cursor ${cursor}, committed ${done}`)
  }
  same(
    'stored verdicts',
    [...postgres.verdicts.keys(), ...postgres.forgotten.keys()].sort(),
    [...oracle.judged.keys()].sort(),
  )

  const nameOfWait = ({ batchId, place, state }: { batchId: string; place: number; state: string }) =>
    `${batchId} #${place} ${state}`
  same('records that waited', postgres.rows().map(nameOfWait).sort(), oracle.waits.map(nameOfWait).sort())

  const all = published.places().flatMap(({ topic, partition }) => published.read(topic, partition, 0))
  const verdicts = new Set(all.filter(({ topic }) => topic === verdictsTopic).map(({ key }) => key))
  same('published verdicts', [...verdicts].sort(), [...oracle.judged.keys()].sort())

  for (const [name, type] of types) {
    const judged = [...oracle.judged.values()].filter((one) => one.type === name)
    const events = distinct(
      all.filter(({ topic }) => topic === acceptedTopic(name)).map(({ value }) => value as AcceptedEvent),
    )
    same(`versions of ${name}, in the order of the log`, byVersion(events, type.id), inOrder(judged, type.id))
    same(
      `the view of ${name}`,
      viewOf(sink.rows(acceptedTopic(name)) as AcceptedEvent[], type.id),
      currentOf(judged, type.id),
    )
  }
  const refused = [...oracle.judged.values()].flatMap(({ batch, refused: of, expired }) => {
    // One that waited is rejected as the record of the batch that it came in.
    const own = batch.resumed?.length ? [] : [...of]
    const late = expired.map((index): [number, string] => [index, 'unknown_reference'])
    return [...own, ...late].map(([index, code]) => `${batch.batch_id} #${batch.first_index + index} ${code}`)
  })
  const nameOf = (e: RejectedEvent) => `${e.batch_id} #${e.index} ${e.problems[0]?.code}`
  const rejected = all.filter(({ topic }) => topic === rejectedTopic).map(({ value }) => value as RejectedEvent)
  same('published rejections', [...new Set(rejected.map(nameOf))].sort(), refused.sort())
  same('shown rejections', (sink.rows(rejectedTopic) as RejectedEvent[]).map(nameOf).sort(), refused)
  checkLastEvents(published, integrity.turnedBack)
}

/** Compaction keeps the last event of each key: it must be the newest one. */
const checkLastEvents = (published: Log<Published>, turnedBack: ReadonlySet<string>): void => {
  const topics = new Set([...types.keys()].map(acceptedTopic))
  for (const { topic, partition } of published.places().filter((place) => topics.has(place.topic))) {
    const newest = new Map<string, number>()
    const last = new Map<string, number>()
    for (const { key, value } of published.read(topic, partition, 0)) {
      const { version } = value as AcceptedEvent
      last.set(key, version)
      newest.set(key, Math.max(newest.get(key) ?? 0, version))
    }
    for (const [key, version] of last)
      if (version !== newest.get(key) && !turnedBack.has(`${topic} ${key}`))
        throw new Violation(`the last event of ${topic} ${key} has version ${version}, its newest ${newest.get(key)}`)
  }
}

/** At rest, before anything's time is over: nothing waits for what is there. */
export const checkNoneOverlooked = (postgres: Postgres): void => {
  for (const row of postgres.rows())
    if (row.state === 'waiting' && postgres.isThere(row))
      throw new Violation(`${row.name} waits, though what it waits for is there`)
}

const same = (what: string, found: string[], expected: string[]): void => {
  if (found.join('\n') === expected.join('\n')) return
  throw new Violation(`${what}\nare\n  ${found.join('\n  ')}\nand should be\n  ${expected.join('\n  ')}`)
}

const distinct = (events: readonly AcceptedEvent[]): AcceptedEvent[] => [
  ...new Map(events.map((event) => [JSON.stringify(event), event])).values(),
]

const line = (org: string, values: Record<string, unknown>, id: string): string =>
  `${entityKey(org, String(values[id]))} ${values.name ?? values.item_id}${values.is_deleted ? ' deleted' : ''}`

const byVersion = (events: readonly AcceptedEvent[], id: string): string[] =>
  groupByKey([...events].sort((a, b) => a.version - b.version).map((event) => line(event.org_id, event, id)))

/** The batches in the order in which they came to the log for the first time, whatever the partition. */
const inLogOrder = (judged: readonly Judged[]): Judged[] =>
  [...judged].sort((a, b) => a.batch.submitted_at - b.batch.submitted_at)

const inOrder = (judged: readonly Judged[], id: string): string[] =>
  groupByKey(
    inLogOrder(judged).flatMap(({ batch, accepted }) => accepted.map((record) => line(batch.org_id, record, id))),
  )

/** Versions can be compared only within one key, so the lines are put in the order of their keys first. */
const groupByKey = (lines: string[]): string[] =>
  lines
    .map((text, n) => ({ text, n, key: text.split(' ')[0] ?? '' }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.n - b.n))
    .map(({ text }) => text)

const viewOf = (rows: readonly AcceptedEvent[], id: string): string[] =>
  rows
    .filter(({ is_deleted }) => !is_deleted)
    .map((row) => line(row.org_id, row, id))
    .sort()

const currentOf = (judged: readonly Judged[], id: string): string[] => {
  const current = new Map<string, { isDeleted: boolean; text: string }>()
  for (const { batch, accepted } of inLogOrder(judged)) {
    for (const record of accepted) {
      const isDeleted = record.is_deleted === true
      current.set(entityKey(batch.org_id, String(record[id])), { isDeleted, text: line(batch.org_id, record, id) })
    }
  }
  return [...current.values()]
    .filter(({ isDeleted }) => !isDeleted)
    .map(({ text }) => text)
    .sort()
}
