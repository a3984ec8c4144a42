import type { Catalogue } from '../catalogue.js'
import { problemCodes } from '../problem.js'

// What queries, bodies and answers are made of: JSON Schema, with the TypeScript type of its values beside it. As record types are
// made of schemas/field.ts, endpoints are made of these.

declare const valueType: unique symbol

/**
 * JSON Schema whose values are of type T. Some keywords are ours, and left out of what is published: `name` makes it an object of its
 * own in the document and in the clients' types, `refusal` is the sentence for a request that has another value, `isOptional` stands
 * at what may be left out, and `nullsLeftOut` at an object in which null means that too.
 */
export type Schema<T = unknown> = { readonly [keyword: string]: unknown; readonly [valueType]?: T }
export type ValueOf<S> = S extends Schema<infer T> ? T : never
type Keywords = { readonly description?: string; readonly refusal?: string; readonly [keyword: string]: unknown }

type OptionalSchema<T = unknown> = Schema<T> & { readonly isOptional: true }
export type Properties = Readonly<Record<string, Schema>>
type OptionalNames<P> = { [Name in keyof P]: P[Name] extends OptionalSchema ? Name : never }[keyof P]
export type ObjectOf<P extends Properties> = { [Name in Exclude<keyof P, OptionalNames<P>>]: ValueOf<P[Name]> } & {
  [Name in OptionalNames<P>]?: ValueOf<P[Name]>
}

const described = (about?: string): Keywords => (about === undefined ? {} : { description: about })

export const text = (about?: string, more: Keywords = {}): Schema<string> => ({
  type: 'string',
  ...described(about),
  ...more,
})
export const flag = (about?: string, more: Keywords = {}): Schema<boolean> => ({
  type: 'boolean',
  ...described(about),
  ...more,
})
export const integer = (minimum: number, about?: string, more: Keywords = {}): Schema<number> => ({
  type: 'integer',
  minimum,
  ...described(about),
  ...more,
})
export const count = (about?: string): Schema<number> => integer(0, about)
export const number: Schema<number> = { type: 'number' }
export const anything = (about?: string): Schema => described(about)
export const uuid: Schema<string> = { type: 'string', format: 'uuid' }
/** A moment in an answer; a Date becomes its text. */
export const instant: Schema<string | Date> = { type: 'string', format: 'date-time' }
export const day: Schema<string> = { type: 'string', format: 'date' }
/** A moment in a question. */
export const moment: Schema<Date> = { type: ['string', 'integer'], format: 'date-time', exclusiveMinimum: 0 }

export const oneOf = <const Word extends string>(words: readonly Word[], more: Keywords = {}): Schema<Word> => ({
  type: 'string',
  enum: words,
  ...more,
})
export const list = <T>(items: Schema<T>, about?: string, more: Keywords = {}): Schema<readonly T[]> => ({
  type: 'array',
  items,
  ...described(about),
  ...more,
})
export const anyObject = (about?: string, more: Keywords = {}): Schema<object> => ({
  type: 'object',
  ...described(about),
  ...more,
})
export const object = <const P extends Properties>(properties: P, more: Keywords = {}): Schema<ObjectOf<P>> => {
  const required = Object.keys(properties).filter((name) => !properties[name]?.isOptional)
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...more }
}
/** An object in a request: what is not in it is refused. */
export const closed = <const P extends Properties>(properties: P, more: Keywords = {}): Schema<ObjectOf<P>> =>
  object(properties, { additionalProperties: false, ...more })

export const optional = <T>(schema: Schema<T>): OptionalSchema<T> => ({ ...schema, isOptional: true })
export const nullable = <T>(schema: Schema<T>, about?: string): Schema<T | null> => ({
  ...schema,
  type: [schema.type, 'null'].flat(),
  ...described(about),
})
/** What may be left out, and is read as this then. */
export const byDefault = <T>(schema: Schema<T>, value: T): Schema<T> => ({
  ...schema,
  default: value,
  isOptional: true,
})
/** The same value where it means something else. */
export const meaning = <T>(schema: Schema<T>, about: string, refusal?: string): Schema<T> => ({
  ...schema,
  description: about,
  ...(refusal !== undefined && { refusal }),
})
/** An object that the document and the clients' types know by this name. */
export const named = <const P extends Properties>(
  name: string,
  properties: P,
  more: Keywords = {},
): Schema<ObjectOf<P>> => object(properties, { name, ...more })

/** What the catalogue names. */
export const recordType: Schema<string> = { $ref: 'RecordType' }
export const uploadType: Schema<string> = { $ref: 'UploadType' }
export const namesIn = (catalogue: Catalogue): Readonly<Record<string, readonly string[]>> => ({
  RecordType: [...catalogue.all.keys()],
  UploadType: [...catalogue.uploads.keys()],
})

export const index = count("place in the request's records")
export const line = optional(integer(1, 'where it begins, in the answer to a body that has lines'))
export const givenId = nullable(text(), 'what was given as its id')
export const problem = named('Problem', {
  field: nullable(text(), 'null where it is the record as a whole'),
  code: oneOf(problemCodes, { description: 'stable: branch on this' }),
  message: text('for people'),
})
export const problems = list(problem)
export const reference = named('Reference', { field: text('the field that refers to it'), type: uploadType, id: uuid })

/** A page of a list, and how the next one is asked for. */
export const nextCursor = nullable(text(), 'null on the last page')
export const notACursor = 'cursor must be the next_cursor of an answer'
export const cursor = optional(text('next_cursor of the page before', { refusal: notACursor }))
export const limitTo = (most: number, usual: number) =>
  byDefault(integer(1, 'how many at most', { maximum: most }), usual)
