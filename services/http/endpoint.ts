import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Catalogue } from '#schemas/catalogue.js'
import type { AnswerOf, BodyOf, Endpoint, ParametersOf, QueryOf } from '#schemas/endpoints/endpoint.js'
import { closed, namesIn, type Schema } from '#schemas/endpoints/values.js'
import type { Problem } from '#schemas/problem.js'
import { takeIdempotencyKey } from './ids.js'
import { createReadObject, isObject, type KnownNames, type ReadText } from './read-values.js'
import { bodyOf } from './request-context.js'
import { type RequestError, requestError, sendError } from './request-error.js'
import { addResource, type Method, type MethodRoute } from './resource.js'

// From a declared endpoint to its route: scope, method, query and body follow from the declaration.

/** What an endpoint was asked, read as it declares it. */
export type AskedOf<E, R> = {
  query: Omit<QueryOf<E>, keyof R> & {
    [Name in keyof R]?: NonNullable<R[Name] extends (text: string) => infer T ? T : never>
  }
  body: BodyOf<E>
  parameters: ParametersOf<E>
  /** Of the body's text. */
  sha256: Buffer | undefined
}

/** What a handler resolves to: an answer that the endpoint declares, why there is none, or a reply that is sent already. */
export type Handled<E> = Promise<AnswerOf<E> | { error: RequestError } | FastifyReply>

type Options<R> = {
  /** Parameters that are read in a way of their own, such as cursors. */
  reads?: R
  /** Whether the handler reads the body by itself. */
  hasOwnBody?: boolean
  config?: MethodRoute['config']
  bodyLimit?: number
}
export type EndpointRoute = { endpoint: Endpoint; routeFor: (names: KnownNames) => MethodRoute }

/** An endpoint and what it does. */
export const on = <E extends Endpoint, R extends Readonly<Record<string, ReadText>> = Record<never, never>>(
  endpoint: E,
  handler: (asked: AskedOf<E, R>, request: FastifyRequest, reply: FastifyReply) => Handled<E>,
  { reads, hasOwnBody = false, config, bodyLimit }: Options<R> = {},
): EndpointRoute => ({
  endpoint,
  routeFor: (names) => {
    const readQuery = createReadQuery(endpoint, names, reads ?? {})
    const { schema } = endpoint.body ?? {}
    const readBody = schema && !hasOwnBody ? createReadBody(endpoint, schema, names) : undefined
    const limit = bodyLimit ?? (readBody && mostBytes)
    const { scope, isForOperators, body, takesKey } = endpoint
    return {
      config: {
        ...(scope !== undefined && { scope }),
        ...(isForOperators && { isForOperators }),
        ...(body?.isStreamed && { isStreamed: true }),
        ...(body?.example && { form: pasteable(body.example) }),
        ...config,
      },
      ...(limit !== undefined && { bodyLimit: limit }),
      ...(takesKey && { onRequest: takeIdempotencyKey }),
      handler: async (request, reply) => {
        const query = readQuery(request.query as object)
        if ('error' in query) return sendError(reply, query.error)
        const given = readBody ? readBody(request) : { value: undefined, sha256: undefined }
        if ('error' in given) return sendError(reply, given.error)
        const asked = {
          query: query.value,
          body: given.value,
          parameters: request.params,
          sha256: given.sha256,
        }
        const answer = await handler(asked as AskedOf<E, R>, request, reply)
        // A handler that has sent its answer, or streams it, returns the reply, which is waited for until it is sent. Fastify does not
        // count a stream as sent whose client has left.
        if (reply.sent || reply.raw.headersSent) return reply
        return isRefusal(answer) ? sendError(reply, answer.error) : reply.send(answer)
      },
    }
  },
})

/** Makes routes of endpoints. Those at one address are added together: every other method is answered 405 there. */
export const addEndpoints = (app: FastifyInstance, catalogue: Catalogue, routes: readonly EndpointRoute[]): void => {
  const names = namesIn(catalogue)
  for (const path of new Set(routes.map(({ endpoint }) => endpoint.path))) {
    const here = routes.filter(({ endpoint }) => endpoint.path === path)
    const byMethod = here.map(({ endpoint, routeFor }): [Method, MethodRoute] => [endpoint.method, routeFor(names)])
    addResource(app, path.replaceAll(/\{(\w+)\}/g, ':$1'), Object.fromEntries(byMethod))
  }
}

// Of a body that asks for something; records come in larger ones.
const mostBytes = 16 * 1024

/** Reads a query as its endpoint declares it. */
export const createReadQuery = (endpoint: Endpoint, names: KnownNames, reads: Readonly<Record<string, ReadText>>) => {
  const { query = {}, elsewhere, hidesUnknown, isOpen, passesOver, method, body } = endpoint
  const isAsking = method === 'GET'
  const read = createReadObject(closed(query), {
    names,
    reads,
    isQuery: true,
    what: 'query parameter',
    // Probes and scrapers may have parameters of their own.
    isLenient: isOpen === true || passesOver === true,
    ...(elsewhere && { elsewhere }),
    ...(hidesUnknown && { hidesUnknown }),
    ...(!isAsking && { place: ' here', onceOnly: 'may be given once only' }),
  })
  const instead = body?.insteadOfQuery
  return (given: object): { value: object } | { error: RequestError } => {
    if (instead && Object.keys(given).length > 0)
      return {
        error: requestError(
          400,
          `there are no query parameters here; ${instead}, as in ${pasteable(body?.example ?? {})}`,
        ),
      }
    const result = read(given)
    return 'problems' in result ? { error: badRequest(result.problems) } : result
  }
}

/** Reads a body as its endpoint declares it. */
export const createReadJson = (schema: Schema, names: KnownNames) => {
  const read = createReadObject(schema, { names, isQuery: false, what: 'field' })
  return (json: unknown): { value: object } | { error: RequestError } => {
    if (!isObject(json))
      return { error: badRequest([{ field: null, code: 'wrong_type', message: 'the body must be a JSON object' }]) }
    const result = read(json)
    return 'problems' in result ? { error: badRequest(result.problems) } : result
  }
}

const createReadBody = ({ body }: Endpoint, schema: Schema, names: KnownNames) => {
  const readJson = createReadJson(schema, names)
  return (request: FastifyRequest): { value: object; sha256: Buffer | undefined } | { error: RequestError } => {
    const given = request.body === undefined && body?.isOptional ? { json: {}, sha256: undefined } : bodyOf(request)
    if ('error' in given) return given
    const result = readJson(given.json)
    return 'error' in result ? result : { ...result, sha256: given.sha256 }
  }
}

/** Why a question is refused, problem by problem. */
export const badRequest = (problems: Problem[]): RequestError => ({
  status: 400,
  message: problems[0]?.message ?? 'the request is wrong',
  problems,
})

const isRefusal = (answer: unknown): answer is { error: RequestError } =>
  isObject(answer) && isObject(answer.error) && typeof answer.error.status === 'number'

/** JSON on one line, as people write it. */
export const pasteable = (json: object): string =>
  JSON.stringify(json, null, 1)
    .replaceAll(/([{[])\n\s*/g, '$1')
    .replaceAll(/\n\s*([}\]])/g, '$1')
    .replaceAll(/\n\s*/g, ' ')
