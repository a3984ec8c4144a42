// What differs between two OpenAPI documents, and whether that would break a client that was written for the one before: requests may
// only be taken more freely, answers may only say more.
import { asList, compareValues, type Direction, type Json, kindOf, type Say } from './compare-values.js'

export type HttpContract = Json & { paths: Readonly<Record<string, Json>> }

const methods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options']
const asObject = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})

/** A sentence for each change that breaks. */
export const breakingInOpenApi = (before: HttpContract, after: HttpContract): string[] =>
  changesInOpenApi(before, after).flatMap(({ breaking, about }) => (breaking ? [about] : []))

export type OpenApiChange = { breaking: boolean; about: string }

/** Every change, in one sentence each. What only explains (descriptions, examples) does not count. */
export const changesInOpenApi = (before: HttpContract, after: HttpContract): OpenApiChange[] => {
  const compare = begin(before, after)
  for (const { at, path, method } of operationsOf(before)) {
    const now = after.paths[path]?.[method]
    if (now === undefined) compare.breaks(`${at} is gone`)
    else compareOperation(compare, at, asObject(before.paths[path]?.[method]), asObject(now))
  }
  for (const { at, path, method } of operationsOf(after))
    if (before.paths[path]?.[method] === undefined) compare.adds(`${at} is new`)
  return compare.found()
}

/** The same of one schema that both documents have, which somebody writes in a request. */
export const changesInWritten = (before: HttpContract, after: HttpContract, name: string): OpenApiChange[] => {
  const compare = begin(before, after)
  const reference = { $ref: `#/components/schemas/${name}` }
  compareSchemas(compare, name, 'request', reference, reference)
  return compare.found()
}

const begin = (before: HttpContract, after: HttpContract) => {
  // One sentence for one change, in however many places it is found; what breaks somewhere breaks.
  const changes = new Map<string, boolean>()
  return {
    before,
    after,
    seen: new Set<string>(),
    breaks: (about: string): void => void changes.set(about, true),
    adds: (about: string): void => void changes.set(about, changes.get(about) ?? false),
    found: (): OpenApiChange[] => [...changes].map(([about, breaking]) => ({ breaking, about })),
  }
}
type Comparison = ReturnType<typeof begin>

const operationsOf = ({ paths }: HttpContract): { at: string; path: string; method: string }[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    methods.filter((name) => name in item).map((method) => ({ at: `${method.toUpperCase()} ${path}`, path, method })),
  )

const compareOperation = (compare: Comparison, at: string, before: Json, after: Json): void => {
  const { breaks, adds } = compare
  const isOpen = ({ security }: Json) => Array.isArray(security) && security.length === 0
  if (isOpen(before) && !isOpen(after)) breaks(`${at} now needs a key`)
  if (!isOpen(before) && isOpen(after)) adds(`${at} needs no key any more`)
  compareParameters(compare, at, before, after)

  const [bodyBefore, bodyAfter] = [asObject(before.requestBody), asObject(after.requestBody)]
  if (bodyAfter.required === true && bodyBefore.required !== true) breaks(`${at} now needs a body`)
  compareContent(compare, `${at}: the body`, 'request', bodyBefore.content, bodyAfter.content)

  const [answers, answersNow] = [asObject(before.responses), asObject(after.responses)]
  for (const [status, given] of Object.entries(answers)) {
    const now = answersNow[status]
    const [answerBefore, answerAfter] = [resolved(compare.before, given), resolved(compare.after, now)]
    if (now === undefined) {
      const say = status.startsWith('2') ? breaks : adds
      say(`${at}: answer ${status} is gone`)
      continue
    }
    compareContent(compare, `${at}: answer ${status}`, 'answer', answerBefore.content, answerAfter.content)
    const [headers, headersNow] = [asObject(answerBefore.headers), asObject(answerAfter.headers)]
    for (const name of missingIn(headersNow, headers)) breaks(`${at}: answer ${status} has no ${name} any more`)
    for (const name of missingIn(headers, headersNow)) adds(`${at}: answer ${status} has a new header ${name}`)
  }
  for (const status of missingIn(answers, answersNow)) adds(`${at}: answer ${status} is new`)
}

const missingIn = (one: Json, other: Json): string[] => Object.keys(other).filter((name) => !(name in one))

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
    if (!next) compare.breaks(`${at}: ${name} is gone`)
    else compareSchemas(compare, `${at}: ${name}`, 'request', parameter.schema, next.schema)
  }
  for (const [name, { required }] of now) {
    const known = old.get(name)
    if (required === true && known?.required !== true) compare.breaks(`${at}: ${name} is now required`)
    else if (!known) compare.adds(`${at}: ${name} is new`)
    else if (known.required === true && required !== true) compare.adds(`${at}: ${name} is no longer required`)
  }
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
    if (now === undefined) compare.breaks(`${at} as ${mediaType} is gone`)
    else compareSchemas(compare, `${at} (${mediaType})`, direction, asObject(content).schema, asObject(now).schema)
  }
  for (const mediaType of missingIn(asObject(before), asObject(after))) compare.adds(`${at} as ${mediaType} is new`)
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
  const say: Say = { breaks: (what) => compare.breaks(`${at} ${what}`), adds: (what) => compare.adds(`${at} ${what}`) }
  compareValues(say, direction, before, after)

  compareFields(compare, at, direction, before, after)
  const isClosed = (schema: Json) => schema.additionalProperties === false
  if (direction === 'request' && isClosed(after) && !isClosed(before)) say.breaks('takes no other fields any more')
  if (direction === 'request' && isClosed(before) && !isClosed(after)) say.adds('takes other fields, too')
  for (const keyword of ['items', 'additionalProperties', 'contentSchema'])
    if (typeof before[keyword] === 'object' && typeof after[keyword] === 'object')
      compareSchemas(compare, `${at}[]`, direction, before[keyword], after[keyword])
  for (const keyword of ['oneOf', 'anyOf', 'allOf']) {
    const [choices, choicesNow] = [asList(before[keyword]), asList(after[keyword])]
    if (choices.length !== choicesNow.length)
      say.breaks(`has ${choicesNow.length} in ${keyword}, had ${choices.length}`)
    else for (const [index, each] of choices.entries()) compareSchemas(compare, at, direction, each, choicesNow[index])
  }
}

const compareFields = (compare: Comparison, at: string, direction: Direction, before: Json, after: Json): void => {
  const { breaks, adds } = compare
  const [old, now] = [asObject(before.properties), asObject(after.properties)]
  for (const [name, schema] of Object.entries(old)) {
    const place = `${at}.${name}`
    if (now[name] === undefined) breaks(`${place} is gone`)
    else compareSchemas(compare, place, direction, schema, now[name])
  }
  const [needed, neededNow] = [asList(before.required), asList(after.required)]
  for (const name of missingIn(old, now)) {
    const kind = kindOf(resolved(compare.after, now[name]))
    if (direction === 'answer') adds(`${at}.${name} is new: ${kind}`)
    else if (!neededNow.includes(name)) adds(`${at}.${name} is new and optional: ${kind}`)
  }
  if (direction === 'request') {
    for (const name of neededNow.filter((each) => !needed.includes(each))) breaks(`${at}.${name} is now required`)
    for (const name of needed.filter((each) => !neededNow.includes(each) && now[String(each)] !== undefined))
      adds(`${at}.${name} is no longer required`)
  } else {
    for (const name of needed.filter((each) => !neededNow.includes(each) && now[String(each)] !== undefined))
      breaks(`${at}.${name} is no longer always there`)
    for (const name of neededNow.filter((each) => !needed.includes(each) && old[String(each)] !== undefined))
      adds(`${at}.${name} is now always there`)
  }
}
