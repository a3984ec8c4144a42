import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { openapiOf } from '#schemas/derive/openapi.js'
import { createValidator } from '#schemas/derive/validator.js'
import { createEdge } from '../edge/edge.js'

const { send, callers } = createEdge()
const as = (key: string) => ({ authorization: `Bearer ${key}` })
const ajv = new Ajv2020({ strict: false, validateFormats: false })
ajv.addSchema(openapiOf(catalogue), 'document')

it.each(['/v1/me', '/v1/types', '/v1/topics'])(
  'answers %s to a key of any scope as documented, and to no one else',
  async (url) => {
    const { status, body } = await send('GET', url, undefined, as('shops-key'))
    expect(status).toBe(200)
    const path = url.replaceAll('/', '~1')
    const fits = ajv.compile({ $ref: `document#/paths/${path}/get/responses/200/content/application~1json/schema` })
    expect(fits(body), ajv.errorsText(fits.errors)).toBe(true)
    expect((await send('GET', url, undefined, as('nobody'))).status).toBe(401)
    expect((await send('POST', url, {})).status).toBe(405)
    expect(await send('GET', `${url}?x=1`)).toMatchObject({
      status: 400,
      body: { problems: [{ code: 'unknown_field' }] },
    })
  },
)

it('says whose key it is, and nothing of its secret', async () => {
  const { body } = await send('GET', '/v1/me', undefined, as('shops-key'))
  expect(body).toEqual({ org_id: 'acme', key_id: 'k3', scopes: ['shops:write'], is_operator: false })
  callers.set('operator-key', { orgId: 'weir', keyId: 'k9', scopes: null, isOperator: true })
  expect((await send('GET', '/v1/me', undefined, as('operator-key'))).body).toMatchObject({
    scopes: null,
    is_operator: true,
  })
})

it('describes every type of the catalogue, with an example that is taken and an address that was asked', async () => {
  const { body } = await send('GET', '/v1/types', undefined, { host: 'weir.example:8443' })
  expect(body.types.map(({ type }: { type: string }) => type)).toEqual([...catalogue.all.keys()])
  for (const { type, example, fields, snippets } of body.types) {
    const declared = catalogue.all.get(type)
    if (!declared) throw new Error(type)
    expect(createValidator(declared)(example), type).toHaveProperty('values')
    expect(fields.map(({ name }: { name: string }) => name)).toEqual(Object.keys(declared.fields))
    expect(snippets.curl).toContain('http://weir.example:8443/')
  }
  const offers = body.types.find(({ type }: { type: string }) => type === 'offers')
  expect(offers.references).toContainEqual({ field: 'shop_id', to: 'shops' })
  const forged = await send('GET', '/v1/types', undefined, { host: "x';rm -rf /;'" })
  if (forged.status === 200) expect(forged.body.types[0].snippets.curl).toContain('http://127.0.0.1:8080/')
})

it('describes the public topics, and none that services talk to each other through', async () => {
  const { body } = await send('GET', '/v1/topics')
  const names = body.topics.map(({ name }: { name: string }) => name)
  expect(names).toEqual(expect.arrayContaining(['weir.accepted.shops', 'weir.interactions', 'weir.rejected']))
  expect(names.some((name: string) => /submitted|verdicts/.test(name))).toBe(false)
})
