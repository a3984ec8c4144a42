import { nearest } from '#schemas/derive/nearest-name.js'
import { shorten } from '#schemas/derive/validator.js'
import { createReader, type Fault } from '#schemas/derive/value-reader.js'
import type { Properties, Schema } from '#schemas/endpoints/values.js'
import { date, moment } from '#schemas/field.js'
import type { Problem } from '#schemas/problem.js'
import { isUuid } from '#schemas/uuid.js'

// Reads a query or a body as its endpoint declares it. Nothing is coerced, except that what stands in a query is text.

/** The names that a catalogue has, by what the declarations call them. */
export type KnownNames = Readonly<Record<string, readonly string[]>>
/** Reads the text of one parameter in a way of its own; undefined where it is none. */
export type ReadText = (text: string) => unknown
export type Problems = { problems: Problem[] }

type Source = {
  names: KnownNames
  isQuery: boolean
  /** What is named, and what to say about names that belong elsewhere. */
  what: string
  /** Where there is nothing of that name. */
  place?: string
  onceOnly?: string
  elsewhere?: Readonly<Record<string, string>>
  /** Whether unknown names are not said back. */
  hidesUnknown?: boolean
  /** Whether unknown names are passed over. */
  isLenient?: boolean
  reads?: Readonly<Record<string, ReadText>>
}
type Read = (given: unknown, name: string) => { value: unknown } | Problems

/** Reads each value by its name. An unknown name, or a value that could never match, is refused: nothing would look like good news. */
export const createReadObject = (schema: Schema, source: Source): ((given: object) => { value: object } | Problems) => {
  const properties = schema.properties as Properties
  const known = Object.keys(properties)
  const readers = new Map(Object.entries(properties).map(([name, one]) => [name, createRead(one, name, source)]))
  const isClosed = !source.isLenient && schema.additionalProperties === false
  const defaults = Object.entries(properties).filter(
    ([name, one]) => one.default !== undefined && !source.reads?.[name],
  )
  const required = (schema.required ?? []) as string[]

  return (given) => {
    const values: Record<string, unknown> = Object.fromEntries(defaults.map(([name, one]) => [name, one.default]))
    const present = Object.entries(given).filter(([, value]) => !(schema.nullsLeftOut && value === null))
    const problems = present.flatMap(([name, value]): Problem[] => {
      const read = readers.get(name)
      if (!read) return isClosed ? [unknownName(name, known, source)] : []
      const result = read(value, name)
      if ('problems' in result) return result.problems
      values[name] = result.value
      return []
    })
    const missing = required
      .filter((name) => !present.some(([other]) => other === name))
      .map((name) => wrong(name, 'wrong_type', properties[name]?.refusal ?? `"${name}" is missing`))
    return problems.length + missing.length > 0 ? { problems: [...problems, ...missing] } : { value: values }
  }
}

const createRead = (schema: Schema, name: string, source: Source): Read => {
  const own = source.reads?.[name]
  const readText = own ? byReader(own, schema as Bounds) : createReadText(schema, source.names)
  const kinds = [schema.type].flat()
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER, refusal } = schema as Bounds
  const isInRange = (value: unknown) =>
    Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum
  const range = `from ${minimum} to ${maximum}`
  const take = (isRight: boolean, value: unknown, code: Problem['code'], sentence: string) =>
    isRight ? { value } : { problems: [wrong(name, code, refusal ?? sentence)] }

  if (source.isQuery)
    return (given) => {
      if (typeof given !== 'string')
        return { problems: [wrong(name, 'wrong_type', `${name} ${source.onceOnly ?? 'must be one text'}`)] }
      if (own) return readText(given, name)
      const isFlag = given === 'true' || given === 'false'
      if (kinds.includes('boolean'))
        return take(isFlag, given === 'true', 'wrong_type', `${name} must be true or false`)
      if (!kinds.includes('integer') || kinds.includes('string')) return readText(given, name)
      const value = /^\d{1,10}$/.test(given) ? Number(given) : undefined
      return take(isInRange(value), value, 'out_of_range', `${name} must be an integer ${range}`)
    }

  const readObject = schema.properties ? createReadObject(schema, { ...source, what: name }) : undefined
  const takesAnything = !schema.type && !schema.$ref
  return (given) => {
    if (takesAnything || (given === null && kinds.includes('null'))) return { value: given }
    if (readObject)
      return isObject(given) ? readObject(given) : take(false, given, 'wrong_type', `"${name}" must be an object`)
    if (kinds.includes('boolean'))
      return take(typeof given === 'boolean', given, 'wrong_type', `"${name}" must be true or false`)
    if (kinds.includes('array'))
      return take(isTexts(given, schema), given, 'wrong_type', `"${name}" must be a list of texts`)
    if (kinds.includes('integer') && !kinds.includes('string'))
      return take(isInRange(given), given, 'wrong_type', `"${name}" must be a whole number ${range}`)
    // A time may be a number here, as it may be in a record.
    const text = typeof given === 'number' && kinds.includes('integer') ? String(given) : given
    if (typeof text === 'string') return readText(text, name)
    const oneText = `${name} must be one text`
    return refuse(name, 'wrong_type', schema.isOptional ? oneText : (refusal ?? oneText))
  }
}
type Bounds = Schema & { minimum?: number; maximum?: number; refusal?: string }

const readMoment = createReader(moment())
const readDate = createReader(date())

const createReadText = (
  schema: Schema,
  names: KnownNames,
): ((text: string, name: string) => { value: unknown } | Problems) => {
  const { refusal } = schema as Bounds
  const words = (schema.enum ?? names[String(schema.$ref)]) as readonly string[] | undefined
  if (words)
    return (text, name) =>
      words.includes(text) ? { value: text } : refuse(name, 'not_one_of', refusal ?? `${name} ${notOneOf(text, words)}`)
  const pattern = new RegExp(String(schema.pattern ?? ''))
  switch (schema.format) {
    case 'uuid':
      return byReader((text) => (isUuid(text) ? text.toLowerCase() : undefined), schema as Bounds)
    case 'date':
      return byReader((text) => faultOf(readDate(text)) ?? text, schema as Bounds)
    case 'date-time':
      return byReader((text) => {
        const read = readMoment(/^\d{1,15}$/.test(text) ? Number(text) : text)
        return faultOf(read) ?? new Date(Number(read))
      }, schema as Bounds)
    default:
      return byReader((text) => (pattern.test(text) ? text : undefined), schema as Bounds)
  }
}

const byReader =
  (read: ReadText, { refusal }: Bounds) =>
  (text: string, name: string): { value: unknown } | Problems => {
    const value = read(text)
    const fault = faultOf(value)
    if (fault) return refuse(name, fault.code, refusal ?? `${name} ${fault.message}`)
    return value === undefined ? refuse(name, 'bad_format', refusal ?? `${name} has no such value`) : { value }
  }

const faultOf = (result: unknown): Fault | undefined =>
  isObject(result) && 'code' in result && 'message' in result ? (result as Fault) : undefined

const unknownName = (name: string, known: readonly string[], source: Source): Problem => {
  const { what, place = '', elsewhere = {}, hidesUnknown } = source
  const meant = nearest(name, Object.keys(elsewhere))
  if (meant !== undefined) return wrong(null, 'unknown_field', elsewhere[meant])
  const close = nearest(name, known)
  const hint = close ? `did you mean ${close}?` : `known are ${known.join(', ')}`
  const message = hidesUnknown ? `there is an unknown ${what}` : `there is no ${what} ${JSON.stringify(shorten(name))}`
  return wrong(null, 'unknown_field', known.length > 0 ? `${message}${place}; ${hint}` : `${message} here`)
}

const notOneOf = (given: string, known: readonly string[]): string => {
  const close = nearest(given, known)
  return close ? `has no such value; did you mean ${close}?` : `must be one of ${known.join(', ')}`
}

export const isObject = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

const isTexts = (given: unknown, { minItems = 0 }: Schema): boolean =>
  Array.isArray(given) && given.length >= Number(minItems) && given.every((one) => typeof one === 'string')

const wrong = (field: string | null, code: Problem['code'], message: unknown): Problem => ({
  field,
  code,
  message: String(message),
})
const refuse = (field: string, code: Problem['code'], message: string): Problems => ({
  problems: [wrong(field, code, message)],
})
