import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { noParametersHere } from '#http/query-string.js'
import { callerOf } from '#http/request-context.js'
import { sendError } from '#http/request-error.js'
import { addResource } from '#http/resource.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { topicReferenceOf } from '#schemas/derive/topic-reference/topic-reference.js'
import type { Layout } from '#schemas/derive/topics.js'
import { typeReferencesOf } from '#schemas/derive/type-reference/type-reference.js'

/** What any key may read: whose it is, which types there are, and which topics. */
export const addReference = (app: FastifyInstance, deps: { catalogue: Catalogue; layout: () => Layout }): void => {
  const { catalogue } = deps
  // Made once for each address by which the edge is reached: there are few, and whoever makes some up pushes out their own.
  const types = new LRUCache<string, object>({ max: 20 })
  const typesAt = (address: string): object => {
    const made = types.get(address) ?? { types: typeReferencesOf(catalogue, address) }
    types.set(address, made)
    return made
  }
  let topics: object | undefined
  const answer = (url: string, read: (request: FastifyRequest) => unknown) =>
    addResource(app, url, {
      GET: {
        handler: async (request, reply) => {
          const stranger = noParametersHere(request)
          return stranger ? sendError(reply, stranger) : reply.send(read(request))
        },
      },
    })

  answer('/v1/me', (request) => {
    const { orgId, keyId, scopes, isOperator = false } = callerOf(request)
    return { org_id: orgId, key_id: keyId, scopes, is_operator: isOperator }
  })
  answer('/v1/types', (request) => typesAt(addressOf(request)))
  answer('/v1/topics', () => {
    topics ??= { topics: topicReferenceOf(catalogue, { layout: deps.layout() }) }
    return topics
  })
}

/** Where the caller has reached the edge, so that what it copies works there; a made-up host goes into no snippet. */
const addressOf = ({ protocol, host }: FastifyRequest): string =>
  /^[\w.-]+(:\d+)?$|^\[[\da-f:]+\](:\d+)?$/i.test(host) ? `${protocol}://${host}` : 'http://127.0.0.1:8080'
