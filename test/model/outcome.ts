import { placeOf } from '#platform/kafka/partitions.js'
import { acceptedTopic, entityKey, rejectedTopic, verdictsTopic } from '#schemas/derive/names.js'
import type { AcceptedEvent, RejectedEvent, SubmittedBatch } from '#schemas/events.js'
import { types } from './edge.js'
import type { Erasing } from './erasing.js'
import type { Integrity } from './integrity.js'
import type { Log } from './log.js'
import type { Judged, Oracle } from './oracle.js'
import type { Postgres } from './postgres.js'
import type { Published } from './publishing.js'
import { Violation } from './rules.js'
import type { Sink } from './sink.js'
import type { Witness } from './witness.js'

/** At the end, when no work is left: all that was submitted is decided, published and shown as the oracle says. */
export const checkOutcome = (system: {
  submitted: Log<SubmittedBatch>
  published: Log<Published>
  oracle: Oracle
  postgres: Postgres
  integrity: Integrity
  sink: Sink
  witness: Witness
  erasing: Erasing
}): void => {
  const { submitted, published, oracle, postgres, integrity, sink, witness, erasing } = system
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

  const { all } = witness
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
      currentOf(judged, type.id, oracle)
        .flatMap(({ isDeleted, text }) => (isDeleted ? [] : [text]))
        .sort(),
    )
  }
  const refused = [...oracle.judged.values()].flatMap(({ batch, refused: of, expired }) => {
    // One that waited is rejected as the record of the batch that it came in.
    const own = batch.resumed?.length ? [] : [...of]
    return [...own, ...expired].map(([index, code]) => ({
      name: `${batch.batch_id} #${batch.first_index + index} ${code}`,
      isShown: code === 'person_erased' || !oracle.isGone(batch.batch_id, index),
    }))
  })
  const nameOf = (e: RejectedEvent) => `${e.batch_id} #${e.index} ${e.problems[0]?.code}`
  const rejected = all.filter(({ topic }) => topic === rejectedTopic).map(({ value }) => value as RejectedEvent)
  same('published rejections', [...new Set(rejected.map(nameOf))].sort(), refused.map(({ name }) => name).sort())
  same(
    'shown rejections',
    (sink.rows(rejectedTopic) as RejectedEvent[]).map(nameOf).sort(),
    refused.flatMap(({ name, isShown }) => (isShown ? [name] : [])).sort(),
  )
  checkLastEvents(published, integrity.turnedBack, oracle)
  for (const erasure of postgres.erasures) {
    const left = erasure.afterwards === 'refuse' ? erasing.leftOf(erasure) : []
    if (left.length > 0) throw new Violation(`somebody who was erased is named once more: ${left.join(', ')}`)
  }
}

/** Compaction keeps the last event of each key: it must be the newest one; and nothing, where the record went with a person. */
const checkLastEvents = (published: Log<Published>, turnedBack: ReadonlySet<string>, oracle: Oracle): void => {
  const lasts = new Set<string>()
  const topics = new Set([...types.keys()].map(acceptedTopic))
  for (const { topic, partition } of published.places().filter((place) => topics.has(place.topic))) {
    const newest = new Map<string, number>()
    const last = new Map<string, number>()
    for (const { key, value } of published.read(topic, partition, 0)) {
      const version = (value as AcceptedEvent | null)?.version ?? Number.POSITIVE_INFINITY
      last.set(key, version)
      if (value) lasts.add(`${topic} ${key}`)
      else lasts.delete(`${topic} ${key}`)
      newest.set(key, Math.max(newest.get(key) ?? 0, version))
    }
    for (const [key, version] of last)
      if (version !== newest.get(key) && !turnedBack.has(`${topic} ${key}`))
        throw new Violation(`the last event of ${topic} ${key} has version ${version}, its newest ${newest.get(key)}`)
  }
  for (const [name, type] of types) {
    const judged = [...oracle.judged.values()].filter((one) => one.type === name)
    for (const { key } of currentOf(judged, type.id, oracle))
      if (!lasts.has(`${acceptedTopic(name)} ${key}`))
        throw new Violation(`${key} is gone from ${acceptedTopic(name)}, though it names nobody who was erased`)
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
  `${entityKey(org, String(values[id]))} ${values.name ?? values.region ?? values.item_id}${values.is_deleted ? ' deleted' : ''}`

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

/** The newest version of each record that did not go with a person. */
const currentOf = (judged: readonly Judged[], id: string, oracle: Oracle): Current[] => {
  const current = new Map<string, Current>()
  for (const { batch, accepted } of inLogOrder(judged)) {
    for (const record of accepted) {
      if (oracle.isGone(batch.batch_id, record.index)) continue
      const isDeleted = record.is_deleted === true
      const key = entityKey(batch.org_id, String(record[id]))
      current.set(key, { key, isDeleted, text: line(batch.org_id, record, id) })
    }
  }
  return [...current.values()]
}

type Current = { key: string; isDeleted: boolean; text: string }
