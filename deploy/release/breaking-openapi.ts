// What of a changed OpenAPI document would break a client that was written for the one before. Requests may only be taken more freely,
// answers may only say more.

type Json = Readonly<Record<string, unknown>>
export type HttpContract = Json & { paths: Readonly<Record<string, Json>> }

/** Who writes what a schema describes: a client in a request, the server in an answer. */
type Direction = 'request' | 'answer'

const methods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options']
const asObject = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** A sentence for each change that breaks. */
export const breakingInOpenApi = (before: HttpContract, after: HttpContract): string[] => {
  const compare = { before, after, problems: [] as string[], seen: new Set<string>() }
  for (const [path, item] of Object.entries(before.paths)) {
    for (const method of methods.filter((name) => name in item)) {
      const at = `${method.toUpperCase()} ${path}`
      const now = after.paths[path]?.[method]
      if (now === undefined) compare.problems.push(`${at} is gone`)
      else compareOperation(compare, at, asObject(item[method]), asObject(now))
    }
  }
  return [...new Set(compare.problems)]
}

type Comparison = { before: HttpContract; after: HttpContract; problems: string[]; seen: Set<string> }

const compareOperation = (compare: Comparison, at: string, before: Json, after: Json): void => {
  const { problems } = compare
  const isOpen = ({ security }: Json) => Array.isArray(security) && security.length === 0
  if (isOpen(before) && !isOpen(after)) problems.push(`${at} now needs a key`)
  compareParameters(compare, at, before, after)

  const [bodyBefore, bodyAfter] = [asObject(before.requestBody), asObject(after.requestBody)]
  if (bodyAfter.required === true && bodyBefore.required !== true) problems.push(`${at} now needs a body`)
  if (before.requestBody !== undefined)
    compareContent(compare, `${at}: the body`, 'request', bodyBefore.content, bodyAfter.content)

  for (const [status, given] of Object.entries(asObject(before.responses))) {
    const now = asObject(after.responses)[status]
    const [answerBefore, answerAfter] = [resolved(compare.before, given), resolved(compare.after, now)]
    if (now === undefined) {
      if (status.startsWith('2')) problems.push(`${at}: answer ${status} is gone`)
      continue
    }
    compareContent(compare, `${at}: answer ${status}`, 'answer', answerBefore.content, answerAfter.content)
    for (const header of Object.keys(asObject(answerBefore.headers)))
      if (!(header in asObject(answerAfter.headers))) problems.push(`${at}: answer ${status} has no ${header} any more`)
  }
}

const compareParameters = (compare: Comparison, at: string, before: Json, after: Json): void => {
  const named = (document: HttpContract, operation: Json) =>
    new Map(
      asList(operation.parameters)
        .map((each) => resolved(document, each))
        .map((each) => [`${each.in} ${each.name}`, each]),
    )
  const [old, now] = [named(compare.before, before), named(compare.after, after)]
  for (const [name, parameter] of old) {
    const next = now.get(name)
    if (!next) compare.problems.push(`${at}: ${name} is gone`)
    else compareSchemas(compare, `${at}: ${name}`, 'request', parameter.schema, next.schema)
  }
  for (const [name, { required }] of now)
    if (required === true && old.get(name)?.required !== true) compare.problems.push(`${at}: ${name} is now required`)
}

const compareContent = (
  compare: Comparison,
  at: string,
  direction: Direction,
  before: unknown,
  after: unknown,
): void => {
  for (const [mediaType, content] of Object.entries(asObject(before))) {
    const now = asObject(after)[mediaType]
    if (now === undefined) compare.problems.push(`${at} as ${mediaType} is gone`)
    else compareSchemas(compare, `${at} (${mediaType})`, direction, asObject(content).schema, asObject(now).schema)
  }
}

const resolved = (document: HttpContract, value: unknown): Json => {
  const { $ref } = asObject(value)
  if (typeof $ref !== 'string') return asObject(value)
  const steps = $ref.replace('#/', '').split('/')
  return resolved(
    document,
    steps.reduce<unknown>((at, step) => asObject(at)[step], document),
  )
}

const compareSchemas = (
  compare: Comparison,
  at: string,
  direction: Direction,
  beforeGiven: unknown,
  afterGiven: unknown,
): void => {
  // A schema that refers to itself has been compared once it comes again; one that many answers have is named once.
  const reference = `${direction} ${JSON.stringify([asObject(beforeGiven).$ref, asObject(afterGiven).$ref])}`
  if (asObject(beforeGiven).$ref !== undefined) {
    if (compare.seen.has(reference)) return
    compare.seen.add(reference)
  }
  const [before, after] = [resolved(compare.before, beforeGiven), resolved(compare.after, afterGiven)]
  const say = (what: string): void => void compare.problems.push(`${at} ${what}`)
  compareValues(say, direction, before, after)

  const [old, now] = [asObject(before.properties), asObject(after.properties)]
  for (const [name, schema] of Object.entries(old)) {
    const place = `${at}.${name}`
    if (now[name] === undefined) compare.problems.push(`${place} is gone`)
    else compareSchemas(compare, place, direction, schema, now[name])
  }
  const [needed, neededNow] = [asList(before.required), asList(after.required)]
  if (direction === 'request')
    for (const name of neededNow.filter((each) => !needed.includes(each))) say(`.${name} is now required`)
  else
    for (const name of needed.filter((each) => !neededNow.includes(each) && now[String(each)] !== undefined))
      say(`.${name} is no longer always there`)

  if (direction === 'request' && after.additionalProperties === false && before.additionalProperties !== false)
    say('takes no other fields any more')
  for (const keyword of ['items', 'additionalProperties', 'contentSchema'])
    if (typeof before[keyword] === 'object' && typeof after[keyword] === 'object')
      compareSchemas(compare, `${at}[]`, direction, before[keyword], after[keyword])
  for (const keyword of ['oneOf', 'anyOf', 'allOf']) {
    const [choices, choicesNow] = [asList(before[keyword]), asList(after[keyword])]
    if (choices.length !== choicesNow.length) say(`has ${choicesNow.length} in ${keyword}, had ${choices.length}`)
    else for (const [index, each] of choices.entries()) compareSchemas(compare, at, direction, each, choicesNow[index])
  }
}

/** By type, words, form and bounds. */
const compareValues = (say: (what: string) => void, direction: Direction, before: Json, after: Json): void => {
  const typesOf = ({ type }: Json) => (type === undefined ? undefined : [type].flat().map(String))
  const [old, now] = [typesOf(before), typesOf(after)]
  const takesInteger = (types: readonly string[], type: string) => type === 'integer' && types.includes('number')
  const covers = (wide: string[] | undefined, narrow: string[] | undefined) =>
    wide === undefined || (narrow?.every((type) => wide.includes(type) || takesInteger(wide, type)) ?? false)
  if (!(direction === 'request' ? covers(now, old) : covers(old, now)))
    say(`was ${old?.join(' or ') ?? 'anything'} and is ${now?.join(' or ') ?? 'anything'}`)

  const wordsOf = (schema: Json) => (schema.const === undefined ? asList(schema.enum) : [schema.const])
  const [words, wordsNow] = [wordsOf(before), wordsOf(after)]
  const lost = wordsNow.length === 0 ? [] : words.filter((word) => !wordsNow.includes(word))
  if (lost.length > 0) say(`is never ${lost.join(' or ')} any more`)
  if (before.format !== after.format && !(direction === 'request' && after.format === undefined))
    say(`has the form ${after.format ?? 'of any text'}, was ${before.format ?? 'any text'}`)

  if (direction === 'answer') return
  if (words.length === 0 && wordsNow.length > 0) say(`is now one of ${wordsNow.join(', ')}`)
  if (after.pattern !== undefined && after.pattern !== before.pattern) say('has another pattern')
  for (const bound of ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'])
    if (tighter(before[bound], after[bound], (one, other) => other < one)) say(`has a lower ${bound}`)
  for (const bound of ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'])
    if (tighter(before[bound], after[bound], (one, other) => other > one)) say(`has a higher ${bound}`)
}

const tighter = (before: unknown, after: unknown, isTighter: (before: number, after: number) => boolean): boolean =>
  typeof after === 'number' && (typeof before !== 'number' || isTighter(before, after))
