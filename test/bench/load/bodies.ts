import { randomUUID } from 'node:crypto'
import { viewOf } from '#schemas/derive/names.js'
import type { RecordType } from '#schemas/record.js'
import { sampleOf } from '../../support/sample.js'

// A body of 5000 records takes milliseconds to make and microseconds to change. So the load generator makes each body once and
// writes new ids and references over the old ones before each request: every record is new, as it is for a real uploader.

/** A request body, and where in it the ids and references stand. */
export type Body = {
  bytes: Buffer
  records: number
  /** How many of its records Weir will refuse. */
  refused: number
  ids: readonly number[]
  references: readonly { at: number; to: string }[]
  /** Where the ids of new shops stand, which are uploaded just before or after this body. */
  shops: readonly number[]
}

/** Ids of records that are there already, by type: 36 characters each, one after another. */
export type Known = ReadonlyMap<string, Buffer>

export const idLength = 36

/** `count` new ids in a row. */
export const newIds = (count: number): Buffer => Buffer.from(Array.from({ length: count }, () => randomUUID()).join(''))

/** A body for POST /v1/data/{type} with this many records, `wrong` of which are to be refused, and `newShops` refer to new shops. */
export const createBody = (type: RecordType, records: number, wrong = 0, newShops = 0): Body => {
  const shopEvery = newShops > 0 ? Math.ceil(records / newShops) : Number.POSITIVE_INFINITY
  const every = wrong > 0 ? Math.ceil(records / wrong) : Number.POSITIVE_INFINITY
  const isWrong = (n: number) => n % every === 0 && wrong > 0
  const made = Array.from({ length: records }, (_, n) => ({
    ...recordWithMarks(type, n),
    ...(isWrong(n) ? wrongFields(type, n / every) : {}),
    ...(newShops > 0 && n % shopEvery === 0 ? newShop(type) : {}),
  }))
  const refused = made.filter((_, n) => isWrong(n)).length
  return { ...findMarks(JSON.stringify({ records: made })), records, refused }
}

/** A body for POST /user-interactions. */
export const createInteractionBody = (interaction: RecordType): Body => {
  const { interaction_id, recorded_at, ...given } = recordWithMarks(interaction, 0)
  return { ...findMarks(JSON.stringify(given)), records: 1, refused: 0 }
}

/** Writes an id that nobody has used before into each record, and a known record into each reference. */
export const renew = ({ bytes, ids, references, shops }: Body, known: Known): void => {
  for (const at of ids) writeDigits(bytes, at)
  for (const at of shops) writeDigits(bytes, at)
  for (const { at, to } of references) {
    const there = known.get(to)
    if (!there) continue
    const chosen = Math.floor(Math.random() * (there.length / idLength)) * idLength
    there.copy(bytes, at, chosen, chosen + idLength)
  }
}

/** Writes the ids from the `from`th on of a list into the records. */
export const writeIds = ({ bytes, ids }: Body, list: Buffer, from: number): void => {
  for (const [n, at] of ids.entries()) list.copy(bytes, at, (from + n) * idLength, (from + n + 1) * idLength)
}

/** The ids of new shops that the records of a body refer to, as they stand in it now. */
export const shopIdsOf = ({ bytes, shops }: Body): Buffer =>
  Buffer.concat(shops.map((at) => bytes.subarray(at, at + idLength)))

/** The id of the last record, as it stands in the body now. */
export const lastIdOf = ({ bytes, ids }: Body): string => {
  const at = ids.at(-1) ?? 0
  return bytes.toString('latin1', at, at + idLength)
}

/** A table of ClickHouse in which each version of each accepted record is a row. */
export const logOf = (type: string): string => `weir.${viewOf(type)}_log`

const mark = (name: string): string => `#${name}`.padEnd(idLength, '#')
const idMark = mark('id')

const recordWithMarks = (type: RecordType, n: number): Record<string, unknown> => {
  const over: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(type.fields)) {
    if (name === type.id) over[name] = idMark
    else if (field.kind === 'reference') over[name] = mark(field.to)
    else if (field.kind === 'choice') over[name] = field.of[n % field.of.length]
    else if (field.kind === 'text') over[name] = words[n % words.length]
    else if (field.kind === 'number') over[name] = 1 + (n % 4000) / 100
  }
  // An interaction's item is always a shop here, because there are many of those.
  if ('item_id' in type.fields) Object.assign(over, { item_type: 'SHOP', item_id: mark('shops') })
  return sampleOf(type, over)
}

/** A value that the edge refuses and, for every second one of a type that refers to others, an id that integrity refuses. */
const wrongFields = (type: RecordType, n: number): Record<string, unknown> => {
  const reference = Object.entries(type.fields).find(([, field]) => field.kind === 'reference')
  return reference && n % 2 === 1 ? { [reference[0]]: randomUUID() } : { created: 'yesterday' }
}

const newShop = (type: RecordType): Record<string, unknown> => {
  const reference = Object.entries(type.fields).find(([, field]) => field.kind === 'reference' && field.to === 'shops')
  if (!reference) throw new Error(`${type.type} refer to no shop`)
  return { [reference[0]]: mark('new') }
}

// Mostly plain words, as most names are; one in eight has letters beyond ASCII.
const words = [
  'Corner Books',
  'Ten percent off',
  'online',
  'Green Grocer & Sons, High Street',
  'percentage',
  'Café Français',
  'Student discount, weekdays only',
  'in-store',
]

const findMarks = (text: string): Pick<Body, 'bytes' | 'ids' | 'references' | 'shops'> => {
  const bytes = Buffer.from(text)
  const ids: number[] = []
  const references: { at: number; to: string }[] = []
  const shops: number[] = []
  for (let at = bytes.indexOf('"#') + 1; at > 0; at = bytes.indexOf('"#', at + idLength) + 1) {
    const name = /^#([a-z-]+)#/.exec(bytes.toString('latin1', at, at + idLength))?.[1] ?? ''
    if (name === 'id') ids.push(at)
    else if (name === 'new') shops.push(at)
    else references.push({ at, to: name })
    // What stays of it is a valid id, should nothing be written over it.
    bytes.write(randomUUID(), at, 'latin1')
  }
  return { bytes, ids, references, shops }
}

const digits = Buffer.from('0123456789abcdef')

/** New first 12 of an id's digits. With the 72 random bits behind them, which stay, no two records of a run share an id. */
const writeDigits = (bytes: Buffer, at: number): void => {
  let high = Math.floor(Math.random() * 2 ** 32)
  for (let i = 0; i < 8; i++, high >>>= 4) bytes[at + i] = digits[high & 15] as number
  let low = Math.floor(Math.random() * 2 ** 16)
  for (let i = 9; i < 13; i++, low >>>= 4) bytes[at + i] = digits[low & 15] as number
}
