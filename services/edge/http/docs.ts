import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { addResource } from '#http/resource.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { type OpenApi, openapiOf } from '#schemas/derive/openapi.js'
import { asyncapiYaml } from '#schemas/derive/topic-reference/asyncapi.js'
import type { Layout } from '#schemas/derive/topics.js'

/** /openapi.json, /docs that shows it, and /asyncapi.yaml, which is answered 503 until this system's layout is known. */
export const addDocs = (app: FastifyInstance, deps: { catalogue: Catalogue; layout: () => Layout }): void => {
  const { catalogue, layout } = deps
  const document = documentOf(catalogue)
  addResource(app, '/openapi.json', { GET: { handler: async () => document } })
  let asyncapi: string | undefined
  addResource(app, '/asyncapi.yaml', {
    GET: {
      handler: async (_, reply) => {
        // A system's layout never changes.
        asyncapi ??= asyncapiYaml(catalogue, layout())
        return reply.type('application/yaml; charset=utf-8').send(asyncapi)
      },
    },
  })
  app.register(swagger, { mode: 'static', specification: { document: document as never } })
  app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    // Without the bar that asks for another document's address.
    uiConfig: { docExpansion: 'list', deepLinking: true, layout: 'BaseLayout' },
    theme: { title: 'Weir: HTTP' },
  })
}

// Derived once for each catalogue: tests make some thousand apps of one, and that is 5 % of what an app costs.
const documents = new WeakMap<Catalogue, OpenApi>()
const documentOf = (catalogue: Catalogue): OpenApi => {
  const document = documents.get(catalogue) ?? openapiOf(catalogue)
  documents.set(catalogue, document)
  return document
}
