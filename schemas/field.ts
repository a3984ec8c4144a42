/** The vocabulary of fields. Every target (validator, Avro, ClickHouse, OpenAPI) handles each kind in one exhaustive switch. */
export type Kind =
  | { kind: 'uuid' }
  | { kind: 'reference'; to: string }
  | { kind: 'item'; by: string; kinds: Readonly<Record<string, string>> }
  | { kind: 'text'; longest?: number }
  | { kind: 'country' }
  | { kind: 'number'; above?: number; min?: number; max?: number; isSummed?: true }
  | { kind: 'boolean' }
  | { kind: 'choice'; of: readonly string[] }
  | { kind: 'instant' }
  | { kind: 'moment' }
  | { kind: 'date' }

export type Field = Kind & { required: boolean; about: string; likeness?: Likeness; ofPerson?: OfPerson }

/** Who a person may be: a customer (a student is one) by `customer_id`, or a user by `user_id`. */
export type Person = 'customer' | 'user'

/**
 * What a field has to do with a person: it names them (an id is a pseudonym: it says who only to those who know whose it is), it says something
 * personal of whom the record names, or nothing by itself. In a type that names persons each field has to say it; all others are about nobody.
 */
export type OfPerson = { names: Person } | 'personal' | 'nothing'

/**
 * What made-up values look like in sample data, beyond what the kind asks for: a word of each list, the id of a record of another
 * type, a number or a day (in milliseconds) of a range, a time in the last days, or whatever the kind allows. Of optional fields only
 * those that have a likeness have values.
 */
export type Likeness =
  | { words: readonly (readonly string[])[] }
  | { idOf: string }
  | { from: number; to: number; step?: number }
  | { lastDays: number }
  | { any: true }

/** A field's value after reading: an instant in milliseconds, a date in days, both since 1970; ids in lower case. */
export type Value = string | number | boolean | null
export type Values = Record<string, Value>

export const uuid = (about = ''): Field => ({ kind: 'uuid', required: true, about })
/** The id of a record of another type, which must already exist. */
export const reference = (to: string, about = ''): Field => ({ kind: 'reference', to, required: true, about })
/** The id of a record whose type follows from another field (`by`) of the same record. */
export const item = (by: string, kinds: Record<string, string>, about = ''): Field => ({
  kind: 'item',
  by,
  kinds,
  required: true,
  about,
})
/** `longest` in characters, where that is not the usual bound. */
export const text = (about = '', { longest }: { longest?: number } = {}): Field => ({
  kind: 'text',
  ...(longest !== undefined && { longest }),
  required: true,
  about,
})
export const country = (about = '2-letter country code'): Field => ({ kind: 'country', required: true, about })
/** `isSummed`: money and the like, which analysts add up. ClickHouse has an exact number beside the float. */
export const number = (
  range: { above?: number; min?: number; max?: number; isSummed?: true } = {},
  about = '',
): Field => ({
  kind: 'number',
  ...range,
  required: true,
  about,
})
export const boolean = (about = ''): Field => ({ kind: 'boolean', required: true, about })
export const choice = (of: readonly string[], about = ''): Field => ({ kind: 'choice', of, required: true, about })
export const instant = (about = ''): Field => ({ kind: 'instant', required: true, about })
/** An instant that may also be given as a positive integer of seconds or milliseconds. */
export const moment = (about = ''): Field => ({ kind: 'moment', required: true, about })
export const date = (about = ''): Field => ({ kind: 'date', required: true, about })
/** Words for sample data; each list is one text, with its words separated by |. */
export const words = (...lists: string[]): Likeness => ({ words: lists.map((list) => list.split('|')) })
export const like = (likeness: Likeness, field: Field): Field => ({ ...field, likeness })
/** The id of the person that the record is about. */
export const naming = (names: Person, field: Field): Field => ({ ...field, ofPerson: { names } })
export const personal = (field: Field): Field => ({ ...field, ofPerson: 'personal' })
/** What says nothing of a person by itself, in a record that names one. */
export const impersonal = (field: Field): Field => ({ ...field, ofPerson: 'nothing' })
export const optional = (field: Field): Field => ({ ...field, required: false })
