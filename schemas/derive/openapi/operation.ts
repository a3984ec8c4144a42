import type { Content, Endpoint, EndpointAnswer, EndpointBody } from '../../endpoints/endpoint.js'
import { optional, type Properties, type Schema, text } from '../../endpoints/values.js'

type Publish = (schema: Schema) => Schema

/** An endpoint as an operation of the document. */
export const operationOf = (endpoint: Endpoint, publish: Publish): Schema => {
  const { tag, name, summary, about, body, answers, isOpen } = endpoint
  const description = [about, keySentence(endpoint)].filter(Boolean).join(' ')
  const parameters = parametersOf(endpoint).map(({ description, schema, ...place }) => ({
    ...place,
    ...(description !== undefined && { description }),
    schema: publish(schema),
  }))
  const own = Object.entries(answers).map(([status, answer]) => [status, responseOf(answer, publish)] as const)
  const errors = errorsOf(endpoint).map((status) => [status, { $ref: `#/components/responses/${status}` }] as const)
  return {
    tags: [tag],
    operationId: name,
    summary,
    description,
    ...(isOpen && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestBodyOf(body, publish) }),
    // What an endpoint says about a status counts before what holds for all.
    responses: Object.fromEntries([...errors, ...own]),
  }
}

/** What the key must allow, in words. */
const keySentence = ({ isOpen, isForOperators, scope, orScope }: Endpoint): string => {
  if (isOpen) return 'Needs no key.'
  if (scope === undefined) return 'Any key may ask.'
  if (isForOperators) return `Needs an operator's key (\`weir keys issue --operator\`) with the scope \`${scope}\`.`
  return `Needs a key with the scope \`${orScope === undefined ? scope : `${scope}\` or \`${orScope}`}\`.`
}

/** The errors that follow from what an endpoint takes. */
const errorsOf = ({ isOpen, query, parameters, body, takesKey }: Endpoint): number[] => [
  ...(isOpen && !query ? [] : [400]),
  ...(isOpen ? [] : [401, 403]),
  ...(parameters ? [404] : []),
  405,
  ...(body ? [408] : []),
  // An import answers line by line: what is wrong with a part of it stands in its line.
  ...(takesKey && !body?.isStreamed ? [409] : []),
  ...(body && !body.isStreamed ? [413] : []),
  ...(parameters ? [414] : []),
  ...(body ? [415] : []),
  ...(isOpen ? [] : [429]),
  431,
  ...(isOpen ? [] : [500, 503]),
]

type Parameter = { name: string; in: string; required?: true; description?: string; schema: Schema }

const parametersOf = ({ parameters = {}, query = {}, headers = {}, takesKey, takesPrefer }: Endpoint): Parameter[] => [
  ...Object.entries(parameters).map(([name, schema]) => ({ name, in: 'path', required: true as const, schema })),
  ...inPlace('query', query),
  ...inPlace('header', { ...headers, ...(takesKey && idempotencyKey), ...(takesPrefer && prefer) }),
]

const inPlace = (place: string, properties: Properties): Parameter[] =>
  Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: place,
    ...(!schema.isOptional && { required: true as const }),
    description: String(description),
    schema,
  }))

const idempotencyKey = {
  'Idempotency-Key': optional(
    text(
      'Makes a repeated request the same request: same ids, same answer, one effect; with another body it is a 409. A key is remembered for at least 24 hours, and for as long as what was decided can be looked up.',
      { pattern: '^[\\x21-\\x7e]{1,255}$' },
    ),
  ),
}
const prefer = {
  Prefer: optional(
    text(
      '`respond-async` (RFC 7240): the answer is a 202 as soon as the records are safely stored, and its `Location` tells what becomes of them. With `wait=10` beside it, the outcome is waited for, up to so many seconds. Other preferences are ignored.',
      { pattern: '^[\\x20-\\x7e]{0,200}$', examples: ['respond-async', 'respond-async, wait=10'] },
    ),
  ),
}

const requestBodyOf = ({ schema, example, isOptional, lined = {} }: EndpointBody, publish: Publish): Schema => ({
  required: !isOptional,
  content: contentOf({ ...(schema && { 'application/json': { schema, example } }), ...lined }, publish),
})

export const responseOf = ({ about, schema, example, headers, content }: EndpointAnswer, publish: Publish): Schema => ({
  description: about,
  ...(headers && {
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, { description, ...schema }]) => [name, { description, schema }]),
    ),
  }),
  content: contentOf(content ?? { 'application/json': { schema: schema ?? {}, example } }, publish),
})

const contentOf = (content: Record<string, Content>, publish: Publish): Schema =>
  Object.fromEntries(
    Object.entries(content).map(([mediaType, { schema, example }]) => [
      mediaType,
      { schema: publish(schema), ...(example !== undefined && { example }) },
    ]),
  )
