import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import type { Catalogue } from '#schemas/catalogue.js'
import { openapiOf } from '#schemas/derive/openapi.js'
import { addResource } from './resource.js'

/** /openapi.json, and /docs that shows it; the page brings all that it needs with it. */
export const addDocs = (app: FastifyInstance, catalogue: Catalogue): void => {
  const document = openapiOf(catalogue)
  addResource(app, '/openapi.json', { GET: { handler: async () => document } })
  app.register(swagger, { mode: 'static', specification: { document: document as never } })
  app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    // Without the bar that asks for another document's address.
    uiConfig: { docExpansion: 'list', deepLinking: true, layout: 'BaseLayout' },
    theme: { title: 'Weir: HTTP' },
  })
}
