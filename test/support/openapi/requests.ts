import fc, { type Arbitrary } from 'fast-check'
import type { OpenApi } from '#schemas/derive/openapi.js'
import type { Schema } from '#schemas/endpoints/values.js'
import { broken, fitting, weird } from './values.js'

export type FuzzedRequest = {
  method: string
  /** The document's path; undefined where the address is made up. */
  template: string | undefined
  url: string
  headers: Record<string, string>
  body: Buffer | undefined
  /** Whether all of it fits the document. */
  isFitting: boolean
}

type Parameter = { name: string; in: string; required?: boolean; schema: Schema }
type Operation = {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses?: Record<number, unknown>
}

/** Requests as the document describes them, and ones that differ from it a little or much. `keys` are good ones. */
export const requestsOf = (document: OpenApi, keys: string[], otherKeys: string[]): Arbitrary<FuzzedRequest> => {
  const resolve = (schema: Schema): Schema => {
    const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined
    return name === undefined ? schema : resolve(document.components.schemas[name] ?? {})
  }
  const good = fc.constantFrom(...keys)

  // What may hold anything, or nearly so, hardly ever holds what it is there for.
  const fittingParameter = ({ schema }: Parameter): Arbitrary<unknown> =>
    Array.isArray(schema.examples)
      ? fc.oneof(fc.constantFrom(...schema.examples), fitting(schema, resolve))
      : fitting(schema, resolve)

  const fittingRequest = (template: string, method: string, operation: Operation): Arbitrary<FuzzedRequest> => {
    const parameters = operation.parameters ?? []
    const values = fc.record(Object.fromEntries(parameters.map((one) => [one.name, fittingParameter(one)])), {
      requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name),
    })
    const [mediaType, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
    // Of a body that has lines, one line.
    const schema = (content?.schema.contentSchema ?? content?.schema) as Schema | undefined
    const body = schema ? fitting(schema, resolve) : fc.constant(undefined)
    return fc.tuple(values.map(complete), body, good).map(([given, json, key]) => ({
      method: method.toUpperCase(),
      template,
      url: urlOf(template, parameters, given),
      headers: {
        authorization: `Bearer ${key}`,
        ...(mediaType && { 'content-type': mediaType }),
        ...Object.fromEntries(within(parameters, 'header', given)),
      },
      body: json === undefined ? undefined : Buffer.from(JSON.stringify(json)),
      isFitting: true,
    }))
  }

  const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
    Object.entries(methods as Record<string, Operation>)
      // A stream stays open, so there is no end of an answer to wait for.
      .filter(([, { responses }]) => !JSON.stringify(responses?.[200] ?? {}).includes('text/event-stream'))
      // Most of what can go wrong is in bodies and in requests that change something.
      .map(([method, operation]) => ({
        weight: operation.requestBody ? 4 : 1,
        arbitrary: fittingRequest(template, method, operation),
      })),
  )
  const asDescribed = fc.oneof(...operations)
  return fc.oneof(
    { weight: 4, arbitrary: asDescribed },
    { weight: 6, arbitrary: asDescribed.chain((request) => spoilt(request, otherKeys)) },
  )
}

/** What is said in words only: the one parameter needs the other beside it. */
const complete = (given: Record<string, unknown>): Record<string, unknown> => {
  const { missing_type, missing_id, ...others } = given
  if (others.wait_for !== undefined) return { ...given, missing_references: 'wait' }
  return missing_type === undefined || missing_id === undefined ? others : given
}

const within = (parameters: Parameter[], place: string, given: Record<string, unknown>): [string, string][] =>
  parameters.flatMap(({ name, in: where }) =>
    where === place && given[name] !== undefined ? [[name, String(given[name])] as [string, string]] : [],
  )

const urlOf = (template: string, parameters: Parameter[], given: Record<string, unknown>): string => {
  const path = within(parameters, 'path', given).reduce(
    (url, [name, value]) => url.replace(`{${name}}`, encodeURIComponent(value)),
    template,
  )
  const query = new URLSearchParams(within(parameters, 'query', given)).toString()
  return query === '' ? path : `${path}?${query}`
}

/** One thing about the request is no longer as described. */
const spoilt = (request: FuzzedRequest, otherKeys: string[]): Arbitrary<FuzzedRequest> => {
  const { body } = request
  const other = <T>(arbitrary: Arbitrary<T>, change: (value: T) => Partial<FuzzedRequest>) =>
    arbitrary.map((value): FuzzedRequest => ({ ...request, ...change(value), isFitting: false }))
  const header = (name: string, values: Arbitrary<string>) =>
    other(values, (value) => ({ headers: { ...request.headers, [name]: value } }))

  const anywhere = [
    other(fc.constantFrom(...methods), (method) => ({ method })),
    other(address, (url) => ({ template: undefined, url })),
    other(queryString, (query) => ({ url: `${request.url.split('?')[0]}?${query}` })),
    header(
      'authorization',
      fc.oneof(
        fc.constantFrom(...otherKeys).map((key) => `Bearer ${key}`),
        headerValue,
      ),
    ),
    header('content-type', fc.oneof(fc.constantFrom(...contentTypes), headerValue)),
    header('content-encoding', fc.constantFrom('gzip', 'br', 'identity', 'gzip, gzip', 'x')),
    header('idempotency-key', fc.oneof(fc.constantFrom('x'.repeat(256)), headerValue)),
    // The same key with another body is a conflict: often enough that one comes up.
    { weight: 3, arbitrary: header('idempotency-key', fc.constant('one')) },
    header('prefer', fc.oneof(fc.constantFrom(...preferences), headerValue)),
    header('x-org-id', fc.constantFrom('demo', 'weir', '*')),
    ...(request.template?.includes('{')
      ? [other(weird, (value) => ({ url: `/v1/requests/${encodeURIComponent(String(value).toWellFormed())}` }))]
      : []),
  ]
  if (body === undefined) return fc.oneof(...anywhere)
  return fc.oneof(
    ...anywhere,
    { weight: 12, arbitrary: other(broken(JSON.parse(body.toString())), (json) => ({ body: bytesOf(json) })) },
    { weight: 2, arbitrary: other(fc.nat(body.length), (end) => ({ body: body.subarray(0, end) })) },
    {
      weight: 3,
      arbitrary: other(fc.tuple(fc.nat(body.length), fc.uint8Array({ minLength: 1, maxLength: 3 })), ([at, bytes]) => ({
        body: Buffer.concat([body.subarray(0, at), bytes, body.subarray(at)]),
      })),
    },
    other(weird, (json) => ({ body: bytesOf(json) })),
  )
}

const bytesOf = (json: unknown): Buffer => Buffer.from(JSON.stringify(json) ?? '')

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'PURGE']
const contentTypes = ['text/plain', 'application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json5', '', '/']
const preferences = [
  'RESPOND-ASYNC ; x="a,b"',
  'return=minimal, respond-async',
  'respond-async=no',
  'wait=-1',
  '"',
  ',;=',
]

// What an HTTP client can put on the wire at all.
const headerValue = fc.string({ unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)) })
const addressPart = fc.oneof(
  fc.constantFrom('v1', 'data', 'shops', 'requests', '__proto__', 'constructor', 'constructor.prototype', '..', ''),
  fc.constantFrom('%00', '%', '%E0%A4%A', '%2e%2e', '%2f', '*', ':type', '{type}', 'x'.repeat(200), '//', ';', '@'),
  fc.string({ unit: 'binary', maxLength: 10 }).map((text) => encodeURIComponent(text.toWellFormed())),
)
// Three addresses are not in the document although they answer: the document itself and the page that shows it.
const address = fc
  .array(addressPart, { maxLength: 5 })
  .map((parts) => `/${parts.join('/')}`)
  .filter((url) => !/^\/(docs|openapi\.json)/.test(url))
const queryString = fc
  .array(
    fc.tuple(
      fc.oneof(
        fc.constantFrom('limit', 'cursor', 'from', 'to', 'user_id', 'for', 'item_type', '__proto__', 'dry_run'),
        addressPart,
      ),
      fc.oneof(fc.constantFrom('', '0', '1001', '1e3', '-1', '%00', '%ud800', '%', 'true'), weird.map(inUrl)),
    ),
    { maxLength: 4 },
  )
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'))

function inUrl(value: unknown): string {
  return encodeURIComponent(String(value).toWellFormed().slice(0, 500))
}
