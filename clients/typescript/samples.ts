import { catalogue } from '../../schemas/catalogue.js'
import { hasVersions } from '../../schemas/record.js'
import { historyOf, type newField } from '../../schemas/samples/history.js'
import { asPublished, finalStateOf } from '../../schemas/samples/published.js'
import type { EventsByTopic } from './src/events.js'

type TypeOf<Topic> = Topic extends `weir.accepted.${infer Type}`
  ? Type
  : Topic extends 'weir.interactions'
    ? 'interactions'
    : never
type SampledTopics = { [Topic in keyof EventsByTopic as TypeOf<Topic>]: EventsByTopic[Topic] }
/** A type of which samples can be made: shops, transactions, … */
export type SampledType = keyof SampledTopics
/** An event as it is decoded from the topic; with `newFields` it also has a field that is in no schema. */
export type SampledEvent<Type extends SampledType> = SampledTopics[Type] & { [name in typeof newField]?: string | null }

export type SampleOptions = {
  /** How many records, up to 100000; with their versions there are more events. 1000 unless said. */
  count?: number
  /** Some records are deleted, and some of those come back. */
  deletes?: boolean
  /** Events come again, alone and in whole stretches, and old versions late. */
  duplicates?: boolean
  /** Events have an optional field that is in no schema yet. */
  newFields?: boolean
  /** Another one gives other events; the same one always the same. 1 unless said. */
  seed?: number
}

/**
 * Made-up events as they are on the topic of a type, and what a right consumer has of them at the end: the newest event of each record that is
 * not deleted, sorted by id. `weir topics sample` makes the same.
 */
export const sampleTopic = <Type extends SampledType>(
  name: Type,
  { count = 1000, seed = 1, deletes = false, duplicates = false, newFields = false }: SampleOptions = {},
): { events: SampledEvent<Type>[]; expected: SampledEvent<Type>[] } => {
  const type = catalogue.all.get(name)
  if (!type) throw new RangeError(`there is no type ${name}; there are ${[...catalogue.all.keys()].join(', ')}`)
  if (deletes && !hasVersions(type)) throw new RangeError(`${name} are never changed or deleted: leave deletes out`)
  if (!isWhole(count, 1, 100_000)) throw new RangeError('count is a number from 1 to 100000')
  if (!isWhole(seed, 0, 999_999)) throw new RangeError('seed is a number from 0 to 999999')
  const wish = { type, count, seed, deletes, duplicates, newFields }
  const { events } = asPublished(historyOf(wish), wish)
  // Each its own: a consumer may change what it is given.
  const copies = (of: typeof events) => of.map((event) => ({ ...event }) as unknown as SampledEvent<Type>)
  return { events: copies(events), expected: copies(finalStateOf(events, type.id)) }
}

const isWhole = (given: number, from: number, to: number): boolean =>
  Number.isInteger(given) && given >= from && given <= to
