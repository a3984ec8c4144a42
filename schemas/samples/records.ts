import { catalogue } from '../catalogue.js'
import type { Field, Likeness } from '../field.js'
import type { RecordType } from '../record.js'
import { type Chance, createChance, idOf } from './chance.js'

// Sample data is made from the declarations of the types: their kinds, bounds, references, and what values look like.

/** How much there is of each type. */
type Amounts = Readonly<Record<string, number>>

export const amountsFor = (
  customers: number,
  shops = Math.max(5, Math.ceil(customers / 50)),
  types: Iterable<RecordType> = catalogue.all.values(),
): Amounts => {
  const amounts: Record<string, number> = { customers, shops }
  for (const type of types) {
    const { of = firstReference(type), each = 1 } = type.sampled ?? {}
    amounts[type.type] ??= of === undefined ? differentRecords(type) : each * (amounts[of] ?? 1)
  }
  return amounts
}

const firstReference = (type: RecordType): string | undefined =>
  Object.values(type.fields).flatMap((field) => (field.kind === 'reference' ? [field.to] : []))[0]

/** As many as there are words for, where each word is to come once. */
const differentRecords = (type: RecordType): number => {
  const counts = Object.values(type.fields).map(({ likeness }) => wordsIn(likeness)[0]?.length ?? 0)
  return Math.max(...counts) || 10
}

const wordsIn = (likeness: Likeness | undefined) => (likeness && 'words' in likeness ? likeness.words : [])

export type Sample = {
  seed: number
  amounts: Amounts
  /** Which share of the rows is wrong. */
  broken: number
  /** In milliseconds: the day at whose beginning the records end. A fixed one where none is given. */
  until?: number
}

/** Whether the row at this place is wrong on purpose. */
export const isBroken = ({ seed, broken }: Sample, type: string, index: number): boolean =>
  broken > 0 && createChance(seed, 'broken', type, index).isLikely(broken)

/** The right record at this place. What it refers to is right as well, so that only rows that are wrong themselves are refused. */
export const recordAt = (sample: Sample, type: RecordType, index: number): Record<string, unknown> => {
  const making: Making = { sample, type, index, chance: createChance(sample.seed, type.type, index), made: {} }
  // An item's id depends on another field, wherever that stands.
  const fields = Object.entries(type.fields).sort(
    ([, a], [, b]) => Number(a.kind === 'item') - Number(b.kind === 'item'),
  )
  for (const [name, field] of fields) {
    const isSometimesLeftOut = field.kind === 'text' || field.kind === 'choice'
    const isLike = field.likeness !== undefined && !(isSometimesLeftOut && making.chance.isLikely(0.2))
    if (field.required || isLike) making.made[name] = makeValue(making, name, field)
  }
  return making.made
}

type Making = { sample: Sample; type: RecordType; index: number; chance: Chance; made: Record<string, unknown> }

const regions = ['GB', 'GB', 'GB', 'IE', 'DE', 'FR']
const day = 86_400_000
// The same seed gives the same records in every year.
const fixedEnd = Date.UTC(2026, 0, 1)

const makeValue = (making: Making, name: string, field: Field): unknown => {
  const { sample, type, index, chance, made } = making
  const { likeness = { any: true } } = field
  const { until = fixedEnd } = sample
  const text = wordsIn(likeness).map((list) => wordOf(making, list))
  if (text.length > 0) return text.join(' ')
  switch (field.kind) {
    case 'uuid':
      if (name === type.id) return idOf(sample.seed, type.type, index)
      return 'idOf' in likeness ? anyOf(making, likeness.idOf) : idOf(sample.seed, type.type, name, index)
    case 'reference':
      return anyOf(making, field.to)
    case 'item':
      return anyOf(making, field.kinds[String(made[field.by])] ?? '')
    case 'text':
      return `${name.replaceAll('_', ' ')} ${index + 1}`.slice(0, field.longest).trim()
    case 'country':
      return chance.one(regions)
    case 'number':
      return 'from' in likeness ? numberIn(chance, likeness) : numberIn(chance, boundsOf(field))
    case 'boolean':
      return chance.isLikely(0.9)
    case 'choice':
      return chance.one(field.of)
    case 'instant':
    case 'moment': {
      const days = 'lastDays' in likeness ? likeness.lastDays : 90
      return new Date(until - chance.below(days * day)).toISOString().replace(/\.\d+Z$/, 'Z')
    }
    case 'date': {
      const { from, to } = 'from' in likeness ? likeness : { from: until - 365 * day, to: until }
      return new Date(from + chance.below(to - from)).toISOString().slice(0, 10)
    }
    default:
      return field satisfies never
  }
}

/** Each word once where there are enough of them, and any of them otherwise. */
const wordOf = ({ sample, type, index, chance }: Making, words: readonly string[]): string =>
  (sample.amounts[type.type] ?? 0) <= words.length ? String(words[index % words.length]) : chance.one(words)

type Range = { from: number; to: number; step?: number }

const boundsOf = ({ above, min = above, max }: { above?: number; min?: number; max?: number }): Range => {
  const from = min ?? Math.min(0, (max ?? 100) - 100)
  return { from, to: max ?? from + 100 }
}

/** Above `from`, and at most `to`. */
const numberIn = (chance: Chance, { from, to, step = Math.min(0.01, (to - from) / 2) }: Range): number =>
  Number((from + step * (1 + chance.below(Math.floor((to - from) / step)))).toPrecision(12))

/** The id of a right record of another type. */
const anyOf = ({ sample, chance }: Making, type: string): string => {
  const amount = sample.amounts[type] ?? 1
  const first = chance.below(amount)
  for (let i = 0; i < amount; i++) {
    const at = (first + i) % amount
    if (!isBroken(sample, type, at)) return idOf(sample.seed, type, at)
  }
  return idOf(sample.seed, type, first)
}
