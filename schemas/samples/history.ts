import { catalogue } from '../catalogue.js'
import type { Field, Value, Values } from '../field.js'
import { hasVersions, type RecordType } from '../record.js'
import { versionOf } from '../version.js'
import { createChance, idOf } from './chance.js'
import { recordAt, type Sample } from './records.js'

/** What a downstream team asks for. */
export type TopicSample = {
  type: RecordType
  seed: number
  /** How many records; with their versions there are more events. */
  count: number
  deletes: boolean
  duplicates: boolean
  newFields: boolean
}

type Kind = 'first' | 'changed' | 'deleted' | 'restored'

/** An accepted event. Its own fields are as its type says. */
export type SampleEvent = { version: number } & Values

/** One accepted version of one record. */
export type Write = { index: number; kind: Kind; event: SampleEvent }

/** No type has it: a field that comes after the reader was written. */
export const newField = 'added_later'

/** Samples of other types refer to these many first records of a type, so that what they refer to is in a sample of that type. */
export const referredTo = 10

const batchOf = 100
// A fixed beginning: the same seed gives the same events in every year.
const begin = Date.UTC(2026, 0, 1)

/** Every version of every record once, in the order in which they were accepted. */
export const historyOf = (wish: TopicSample): Write[] => {
  const { type, seed } = wish
  const makeRecord = createRecords(type, seed)
  const chance = createChance(seed, 'places', type.type)
  const current = new Map<number, Values>()
  const order = plannedWrites(wish)
  let offset = chance.below(1000)
  return order.map(({ index, kind }, n) => {
    const place = n % batchOf
    const batch = (n - place) / batchOf
    // The log of a partition has gaps: batches of other organisations, and those that were refused.
    if (place === 0 && n > 0) offset += 1 + chance.below(3)
    const acceptedAt = begin + batch * 60_000
    const before = current.get(index)
    const values = before ? rewrite(makeRecord, before, { index, n, kind, acceptedAt, type }) : makeRecord(index)
    current.set(index, values)
    const event: SampleEvent = {
      org_id: 'demo',
      request_id: idOf(seed, 'request', type.type, batch),
      batch_id: idOf(seed, 'batch', type.type, batch),
      accepted_at: acceptedAt,
      version: versionOf(offset, place),
      ...assignedTo(type, seed, index, acceptedAt),
      ...values,
      ...(wish.newFields && { [newField]: n >= order.length / 2 ? `value ${n}` : null }),
    }
    return { index, kind, event }
  })
}

/** Who is written when: each record's writes in their order, and those of all records mixed. */
const plannedWrites = ({ type, seed, count, deletes }: TopicSample): { index: number; kind: Kind }[] => {
  const planned = Array.from({ length: count }, (_, index) => {
    const chance = createChance(seed, 'writes', type.type, index)
    let at = chance.share()
    return kindsOf(chance, index, { versions: hasVersions(type), deletes }).map((kind) => {
      const write = { index, kind, at }
      at += (1 - at) * chance.share()
      return write
    })
  })
  return planned.flat().sort((one, other) => one.at - other.at)
}

/** The first two records have everything that was asked for, so that no sample is too small to have it. */
const kindsOf = (
  { isLikely }: { isLikely: (probability: number) => boolean },
  index: number,
  asked: { versions: boolean; deletes: boolean },
): Kind[] => {
  if (!asked.versions) return ['first']
  const kinds: Kind[] = ['first']
  if (index === 0 || isLikely(0.3)) kinds.push('changed')
  if (isLikely(0.1)) kinds.push('changed')
  if (!asked.deletes || !(index < 2 || isLikely(0.15))) return kinds
  kinds.push('deleted')
  if (index === 0 || (index > 1 && isLikely(0.35))) kinds.push('restored')
  return kinds
}

const createRecords = (type: RecordType, seed: number): ((index: number) => Values) => {
  const amounts = Object.fromEntries([...catalogue.all.keys()].map((name) => [name, referredTo]))
  const sample: Sample = { seed, broken: 0, amounts }
  return (index) => {
    const made = recordAt(sample, type, index)
    return Object.fromEntries(Object.entries(type.fields).map(([name, field]) => [name, asKept(field, made[name])]))
  }
}

/** What the validator makes of a right value. The SDK is to do without it, and without all that it says of wrong ones. */
const asKept = ({ kind }: Field, given: unknown): Value => {
  if (kind === 'instant' || kind === 'moment' || kind === 'date') {
    if (given === undefined) return null
    const milliseconds = Date.parse(String(given))
    return kind === 'date' ? milliseconds / 86_400_000 : milliseconds
  }
  return (given ?? null) as Value
}

type Rewritten = { index: number; n: number; kind: Kind; acceptedAt: number; type: RecordType }

/** The next version of a record: its id, when it was created and what it refers to stay. */
const rewrite = (
  makeRecord: (index: number) => Values,
  before: Values,
  { index, n, kind, acceptedAt, type }: Rewritten,
): Values => {
  const written = { ...before, updated: acceptedAt - 1000, is_deleted: kind === 'deleted' ? true : null }
  if (kind !== 'changed') return written
  // Far behind the records of any sample, so that what changes is like no other record.
  const other = makeRecord(1_000_000 + index * 1000 + n)
  const kept = [type.id, 'created', 'updated', 'is_deleted']
  const changing = Object.entries(type.fields).filter(
    ([name, { kind }]) => kind !== 'reference' && !kept.includes(name),
  )
  return { ...written, ...Object.fromEntries(changing.map(([name]) => [name, other[name] ?? null])) }
}

/** What the service gives an interaction: its id, and when it was taken in. */
const assignedTo = (type: RecordType, seed: number, index: number, acceptedAt: number): Values =>
  Object.fromEntries(
    Object.entries(type.assigned).map(([name, { kind }]) => [
      name,
      kind === 'uuid' ? idOf(seed, type.type, name, index) : acceptedAt,
    ]),
  )
