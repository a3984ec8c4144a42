export type Json = Readonly<Record<string, unknown>>

/** Who writes what a schema describes: a client in a request, the server in an answer. */
export type Direction = 'request' | 'answer'

/** What is said of one place. */
export type Say = { breaks: (what: string) => void; adds: (what: string) => void }

/** Compares two schemas of one place by type, words, form and bounds. */
export const compareValues = (say: Say, direction: Direction, before: Json, after: Json): void => {
  const [old, now] = [typesOf(before), typesOf(after)]
  const takesInteger = (types: readonly string[], type: string) => type === 'integer' && types.includes('number')
  const covers = (wide: string[] | undefined, narrow: string[] | undefined) =>
    wide === undefined || (narrow?.every((type) => wide.includes(type) || takesInteger(wide, type)) ?? false)
  const change = `was ${old?.join(' or ') ?? 'anything'} and is ${now?.join(' or ') ?? 'anything'}`
  if (!(direction === 'request' ? covers(now, old) : covers(old, now))) say.breaks(change)
  else if (!(covers(now, old) && covers(old, now))) say.adds(change)

  const wordsOf = (schema: Json) => (schema.const === undefined ? asList(schema.enum) : [schema.const])
  const [words, wordsNow] = [wordsOf(before), wordsOf(after)]
  const lost = wordsNow.length === 0 ? [] : words.filter((word) => !wordsNow.includes(word))
  if (lost.length > 0) say.breaks(`is never ${lost.join(' or ')} any more`)
  const gained = words.length === 0 ? [] : wordsNow.filter((word) => !words.includes(word))
  if (gained.length > 0) say.adds(`may be ${gained.join(' or ')}, too`)
  if (words.length > 0 && wordsNow.length === 0) say.adds(`is no longer one of ${words.join(', ')} alone`)
  if (before.format !== after.format) {
    const report = direction === 'request' && after.format === undefined ? say.adds : say.breaks
    report(`has the form ${after.format ?? 'of any text'}, was ${before.format ?? 'any text'}`)
  }

  if (direction === 'answer') return
  if (words.length === 0 && wordsNow.length > 0) say.breaks(`is now one of ${wordsNow.join(', ')}`)
  const added = addedAlternative(before.pattern, after.pattern)
  if (after.pattern !== before.pattern)
    if (after.pattern === undefined) say.adds('need not have a pattern any more')
    else if (added) say.adds(`may match ${added}, too`)
    else say.breaks('has another pattern')
  for (const bound of ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'])
    compareBounds(say, bound, { tighter: 'lower', looser: 'higher' }, before[bound], after[bound])
  for (const bound of ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'])
    compareBounds(say, bound, { tighter: 'higher', looser: 'lower' }, before[bound], after[bound])
}

/** What a pattern takes beside all that it took, where an alternative was put before it; of others that cannot be told. */
const addedAlternative = (before: unknown, after: unknown): string | undefined => {
  const end = `|${before}`
  return typeof after === 'string' && after.endsWith(end) ? after.slice(0, -end.length) : undefined
}

/** Without a bound everything is taken, so a new one is the tightest change. */
const compareBounds = (
  say: Say,
  bound: string,
  words: { tighter: string; looser: string },
  before: unknown,
  after: unknown,
): void => {
  if (before === after) return
  const change = `${after ?? 'none'}, was ${before ?? 'none'}`
  const isHigher = Number(after) > Number(before)
  const isTighter = before === undefined || (after !== undefined && isHigher === (words.tighter === 'higher'))
  if (isTighter) say.breaks(`has a ${words.tighter} ${bound}: ${change}`)
  else say.adds(`has a ${words.looser} ${bound}: ${change}`)
}

const typesOf = ({ type }: Json) => (type === undefined ? undefined : [type].flat().map(String))

/** In words: a type, with its form. */
export const kindOf = (schema: Json): string => {
  const type = typesOf(schema)?.join(' or ') ?? 'any value'
  return typeof schema.format === 'string' ? `${type} (${schema.format})` : type
}

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
