import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { on } from '#http/endpoint.js'
import { catalogue } from '#schemas/catalogue.js'
import { type OpenApi, openapiOf } from '#schemas/derive/openapi.js'
import { endpointTypesOf } from '#schemas/derive/typescript/endpoint-types.js'
import { fixedEndpoints } from '#schemas/endpoints/all.js'
import { endpoint } from '#schemas/endpoints/endpoint.js'
import { readMe } from '#schemas/endpoints/reference.js'
import { object, text } from '#schemas/endpoints/values.js'
import { createEdge } from '../../services/edge/edge.js'
import { createAnswerCheck } from '../../support/openapi/answers.js'

// A field of an answer is renamed where it is declared, and nowhere else: each of these notices.

it('the type check of the handler', () => {
  const answer = { org_id: 'acme', key_id: null, scopes: null, is_operator: false }
  on(readMe, async () => answer)
  const { method, path, name, tag, summary } = readMe
  const answers = { 200: { about: '', schema: object({ organisation: text() }) } }
  const renamed = endpoint(method, path, name, tag, { summary, answers })
  // @ts-expect-error: the handler answers with org_id
  on(renamed, async () => answer)
})

it('every test that gets an answer', async () => {
  const { send } = createEdge()
  const { status, headers, body } = await send('GET', '/v1/me')
  const answer = { status, contentType: String(headers['content-type']), text: JSON.stringify(body) }
  const document = JSON.parse(JSON.stringify(openapiOf(catalogue)).replaceAll('"org_id"', '"organisation"')) as OpenApi
  expect(createAnswerCheck(openapiOf(catalogue)).checkDeclared('GET', '/v1/me', answer)).toBeUndefined()
  expect(createAnswerCheck(document).checkDeclared('GET', '/v1/me', answer)).toContain('organisation')
})

it("the test that compares the clients' types with those that are committed", () => {
  const committed = readFileSync(new URL('../../../clients/typescript/src/endpoints.ts', import.meta.url), 'utf8')
  expect(endpointTypesOf()).toBe(committed)
  const renamed = { ...readMe, answers: { 200: { about: '', schema: object({ organisation: text() }) } } }
  expect(endpointTypesOf(fixedEndpoints.map((one) => (one === readMe ? renamed : one)))).not.toBe(committed)
})
