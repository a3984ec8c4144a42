import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { ConsumerAddresses } from '#schemas/derive/topic-reference/consumers.js'
import { topicReferenceOf } from '#schemas/derive/topic-reference/topic-reference.js'
import type { Layout } from '#schemas/derive/topics.js'
import { typeReferencesOf } from '#schemas/derive/type-reference/type-reference.js'
import { listTopics } from '#schemas/endpoints/downstream/topics.js'
import type { AnswerOf } from '#schemas/endpoints/endpoint.js'
import { listTypes, readMe } from '#schemas/endpoints/reference.js'

/** What any key may read: whose it is, which types there are, and which topics. */
export const addReference = (
  app: FastifyInstance,
  deps: {
    catalogue: Catalogue
    layout: () => Layout
    /** Where downstream teams find Kafka and the registry. */
    forSubscribers: ConsumerAddresses
  },
): void => {
  const { catalogue, forSubscribers: addresses } = deps
  // Made once for each address by which the edge is reached: there are few, and made-up ones push out each other.
  const types = new LRUCache<string, AnswerOf<typeof listTypes>>({ max: 20 })
  const typesAt = (address: string) => {
    const made = types.get(address) ?? { types: typeReferencesOf(catalogue, address) }
    types.set(address, made)
    return made
  }
  let topics: AnswerOf<typeof listTopics> | undefined

  addEndpoints(app, catalogue, [
    on(readMe, async (_asked, request) => {
      const { orgId, keyId, scopes, isOperator = false } = callerOf(request)
      return { org_id: orgId, key_id: keyId, scopes, is_operator: isOperator }
    }),
    on(listTypes, async (_asked, request) => typesAt(addressOf(request))),
    on(listTopics, async () => {
      topics ??= { topics: topicReferenceOf(catalogue, { layout: deps.layout(), addresses }) }
      return topics
    }),
  ])
}

/** Where the caller has reached the edge, so that what it copies works there; a made-up host goes into no snippet. */
const addressOf = ({ protocol, host }: FastifyRequest): string =>
  /^[\w.-]+(:\d+)?$|^\[[\da-f:]+\](:\d+)?$/i.test(host) ? `${protocol}://${host}` : 'http://127.0.0.1:8080'
