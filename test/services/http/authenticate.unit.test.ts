import { expect, it } from 'vitest'
import { bearerOf } from '#http/authenticate.js'
import { catalogue } from '#schemas/catalogue.js'
import { openapiOf } from '#schemas/derive/openapi.js'
import { createEdge } from '../edge/edge.js'

it('reads a key from the Authorization header', () => {
  expect([bearerOf('Bearer abc'), bearerOf('bearer  abc ')]).toEqual(['abc', 'abc'])
  for (const bad of [undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b', `Bearer ${'x'.repeat(513)}`]) {
    expect(bearerOf(bad)).toBeUndefined()
  }
})

// The walk of two organisations goes by the document (test/journeys/tenancy.e2e.test.ts): what is not in it is not walked.
it('documents every route that asks for a scope', async () => {
  const { app } = createEdge()
  const found = new Map<string, unknown>()
  app.addHook('onRoute', ({ method, url, config }) => {
    for (const each of [method].flat()) found.set(`${each.toLowerCase()} ${url.replace(/:(\w+)/g, '{$1}')}`, config)
  })
  await app.ready()
  const documented = Object.entries(openapiOf(catalogue).paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, { security?: unknown; tags: string[] }>).flatMap(
      // What is the same for everybody needs a key, and no scope.
      ([method, { security, tags }]) => (security || tags.includes('reference') ? [] : [`${method} ${path}`]),
    ),
  )
  const served = [...found].filter(([, config]) => (config as { scope?: string } | undefined)?.scope !== undefined)
  const withoutHead = served.map(([route]) => route).filter((route) => !route.startsWith('head '))
  expect(withoutHead.sort()).toEqual(documented.sort())
})
