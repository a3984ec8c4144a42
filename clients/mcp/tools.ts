import { catalogue } from '../../schemas/catalogue.js'
import type { Endpoint } from '../../schemas/endpoints/endpoint.js'
import { listMarts, readMart } from '../../schemas/endpoints/marts.js'
import { listTypes, readMe } from '../../schemas/endpoints/reference.js'
import { listRejections, readQuality, summariseRejections } from '../../schemas/endpoints/rejections.js'
import { findId, followRecord, listRequests, lookUpRequest } from '../../schemas/endpoints/requests.js'
import { namesIn, type Properties, type Schema } from '../../schemas/endpoints/values.js'
import { listMissing, listWaiting } from '../../schemas/endpoints/waiting.js'

/** Asks Weir's HTTP interface; rejects with the SDK's error. */
export type AskWeir = (path: string, body?: object) => Promise<Readonly<Record<string, unknown>>>

export type Given = Readonly<Record<string, unknown>>

export type Tool = {
  name: string
  title: string
  about: string
  /** The scope that the key needs; undefined where any key will do. */
  scope: string | undefined
  input: InputSchema
  /** How to ask for less, where an answer is too long. */
  narrower: string
  call: (given: Given, ask: AskWeir) => Promise<Readonly<Record<string, unknown>>>
}

export type InputSchema = {
  type: 'object'
  properties: Record<string, object>
  required: string[]
  additionalProperties: false
}

/** What is wrong with what a tool was given, with the next step. */
export class NotUnderstood extends Error {}

// An assistant asks for a few rows; people who want all of them export them.
const usualRows = 50
const mostRows = 500

/** The tool for an endpoint that only reads: its name, its description and what it is given are those of the endpoint. */
const reading = (
  endpoint: Endpoint,
  narrower: string,
  shown: (answer: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>> = (answer) => answer,
): Tool => ({
  ...describedBy(endpoint),
  narrower,
  input: inputOf({ ...endpoint.parameters, ...endpoint.query }),
  call: async (given, ask) => shown(await ask(addressOf(endpoint, given))),
})

const describedBy = ({ name, summary, about, scope }: Endpoint) => ({
  ...{ name: name.replaceAll('-', '_'), title: summary, scope },
  about: [summary, about, ...(scope ? [`Needs a key with the scope ${scope}.`] : [])]
    .filter(Boolean)
    .join('. ')
    .replaceAll('..', '.'),
})

const describe: Tool = {
  ...{ name: 'describe', title: 'What a mart or a type of records has in it', scope: undefined },
  about:
    'The columns of a mart, each with its type and what it means, or the fields of a type of records, with what is asked of each and an example. Ask this before you read a mart or write a query.',
  input: inputOf({
    name: { type: 'string', description: 'a mart of list_marts, or a type such as shops or transactions' },
  }),
  narrower: 'there is no narrower question',
  call: async ({ name }, ask) => {
    const { marts } = (await ask(listMarts.path)) as { marts: { name: string }[] }
    const mart = marts.find((each) => each.name === name)
    if (mart) return { mart }
    const { types } = (await ask(listTypes.path)) as { types: { type: string; snippets?: unknown }[] }
    const found = types.find(({ type }) => type === String(name).replaceAll('_', '-'))
    if (found) return { type: { ...found, snippets: undefined } }
    const names = [...marts.map((each) => each.name), ...types.map(({ type }) => type)]
    throw new NotUnderstood(`there is no mart and no type ${JSON.stringify(name)}; there are ${names.join(', ')}`)
  },
}

const query: Tool = {
  ...{ name: 'query', title: 'A query of your own in SQL', scope: undefined },
  about:
    "Asks ClickHouse in its SQL, with an analyst's rights: it only reads, and only this organisation's rows. The marts and the records are views in the database weir, such as weir.sales_by_day and weir.transactions; describe has their columns. Sum and group in the query: few rows are answered.",
  input: inputOf({
    query: {
      type: 'string',
      description: 'one select, such as select region, sum(amount) from weir.sales_by_day group by region',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: mostRows,
      default: usualRows,
      isOptional: true,
      description: 'how many rows at the most',
    },
  }),
  narrower: 'select fewer columns, sum and group in the query, or add conditions',
  call: ({ query: text, limit = usualRows }, ask) => {
    if (typeof text !== 'string' || text.trim() === '') throw new NotUnderstood('query is missing: give one select')
    return ask('/v1/sql', { query: text, limit })
  },
}

const fewer = 'ask for one type, for a shorter time, or for fewer with limit'

/** Every tool; `query` only where there is an analyst's password to ask with. */
export const toolsFor = ({ mayQuery }: { mayQuery: boolean }): Tool[] => [
  reading(readMe, 'there is no narrower question'),
  reading(listMarts, 'describe shows one of them', ({ marts }) => ({
    marts: (marts as { columns: unknown }[]).map(({ columns: _, ...mart }) => mart),
  })),
  describe,
  reading(readMart, 'sum it with by and sum, ask for fewer days with from and to, or for fewer rows with limit'),
  reading(readQuality, fewer),
  reading(summariseRejections, fewer),
  reading(listRejections, fewer),
  reading(listMissing, fewer),
  reading(listWaiting, fewer),
  reading(listRequests, fewer),
  reading(lookUpRequest, 'list_rejections with request_id pages through its refused records'),
  reading(findId, 'there is no narrower question'),
  reading(followRecord, 'there is no narrower question'),
  ...(mayQuery ? [query] : []),
]

/** The address of an endpoint with the values that were given. What is wrong with a value the service says itself, and what to write. */
const addressOf = ({ path, parameters = {}, query = {} }: Endpoint, given: Given): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (given[name] === undefined) throw new NotUnderstood(`${name} is missing`)
    return encodeURIComponent(textOf(name, given[name]))
  })
  const values = Object.entries({ ...(query.limit && { limit: usualRows }), ...given }).flatMap(([name, value]) =>
    value === undefined || value === null || parameters[name] ? [] : [[name, textOf(name, value)] as [string, string]],
  )
  const search = new URLSearchParams(values).toString()
  return search === '' ? filled : `${filled}?${search}`
}

const textOf = (name: string, value: unknown): string => {
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value)
  throw new NotUnderstood(`${name} has to be a text, a number, true or false`)
}

function inputOf(values: Properties): InputSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(values).map(([name, schema]) => [name, published(name, schema)])),
    required: Object.entries(values).flatMap(([name, schema]) =>
      schema.isOptional || schema.default !== undefined ? [] : name,
    ),
    additionalProperties: false,
  }
}

/** A value's schema without the keywords that are Weir's own. */
function published(name: string, schema: Schema): object {
  const { name: _, refusal: __, isOptional: ___, nullsLeftOut: ____, $ref, ...keywords } = schema
  if (name === 'limit')
    return { ...keywords, maximum: Math.min(Number(keywords.maximum), mostRows), default: usualRows }
  return $ref === undefined ? keywords : { type: 'string', enum: namesIn(catalogue)[String($ref)], ...keywords }
}
