import { expect, it } from 'vitest'
import { writeCursor } from '#http/cursor.js'
import { createEdge } from '../../edge/edge.js'
import { createFakeKeys } from '../fakes/keys.fake.js'
import { createFakeOperators } from '../fakes/operators.fake.js'

const operators = createFakeOperators()
const keys = createFakeKeys(operators.add)
const { send, callers, rejections, lines } = createEdge({ operators, keys })
const issue = (org: string) =>
  keys.issue({ actor: 'op' }, { org, name: null, scopes: null, lifetime: undefined }) as Promise<{ keyId: string }>
callers.set('operator-key', { orgId: 'weir', keyId: 'op', scopes: null, isOperator: true })
const looking = ['keys:read', 'rejections:read', 'requests:read']
callers.set('looker-key', { orgId: 'weir', keyId: 'lo', scopes: looking, isOperator: true })
callers.set('sly-key', { orgId: 'acme', keyId: 'sl', scopes: ['keys:read', 'keys:write', 'keys:manage'] })
const as = (key: string) => ({ authorization: `Bearer ${key}` })
const routes = [
  ['GET', '/v1/operator/organisations'],
  ['GET', '/v1/operator/keys'],
  ['POST', '/v1/operator/keys'],
  ['PATCH', '/v1/operator/keys/key0'],
  ['POST', '/v1/operator/keys/key0/rotate'],
  ['POST', '/v1/operator/keys/key0/revoke'],
  ['GET', '/v1/operator/audit'],
  ['GET', '/v1/operator/figures'],
  ['GET', '/v1/operator/system'],
  ['PUT', '/v1/operator/organisations/acme/limits'],
] as const

it.each(routes)('keeps %s %s for operators, whatever scopes others have', async (method, url) => {
  for (const key of ['acme-key', 'sly-key']) {
    const { status, body } = await send(method, url, method === 'GET' ? undefined : {}, as(key))
    expect([status, body.message]).toEqual([403, expect.stringContaining('weir keys issue --operator')])
  }
  if (method !== 'GET') expect((await send(method, url, {}, as('looker-key'))).status).toBe(403)
  else expect((await send(method, url, undefined, as('looker-key'))).status).toBe(200)
})

it('issues a key whose text is shown once, and rotates, revokes and limits', async () => {
  const wanted = { org: 'acme', name: 'nightly upload', scopes: ['shops:write'] }
  const made = await send('POST', '/v1/operator/keys', wanted, as('operator-key'))
  expect(made).toMatchObject({ status: 201, body: { ...wanted, expires_at: null } })
  const { key_id: id, key } = made.body
  const list = await send('GET', '/v1/operator/keys?org=acme', undefined, as('operator-key'))
  expect(list.body.keys).toMatchObject([
    { key_id: id, state: 'active', is_operator: false, created_by: { kind: 'operator', key_id: 'op', name: null } },
  ])
  expect(JSON.stringify([list.body, lines])).not.toContain(key)

  const renamed = await send('PATCH', `/v1/operator/keys/${id}`, { name: 'Łódź' }, as('operator-key'))
  expect(renamed).toMatchObject({ status: 200, body: { key_id: id, org: 'acme', name: 'Łódź' } })
  const rotated = await send('POST', `/v1/operator/keys/${id}/rotate`, { grace_seconds: 60 }, as('operator-key'))
  expect(rotated).toMatchObject({
    status: 201,
    body: { replaces: { key_id: id, expires_at: new Date(60_000).toISOString() } },
  })
  // Without a body the old key ends after a day.
  const later = await send('POST', `/v1/operator/keys/${id}/rotate`, undefined, as('operator-key'))
  expect(later.body.replaces.expires_at).toBe(new Date(86_400_000).toISOString())
  const revoked = await send('POST', `/v1/operator/keys/${id}/revoke`, undefined, as('operator-key'))
  expect(revoked).toMatchObject({ status: 200, body: { key_id: id, org: 'acme' } })

  const limits = '/v1/operator/organisations/acme/limits'
  expect(await send('PUT', limits, { requests_per_second: 5 }, as('operator-key'))).toMatchObject({
    status: 200,
    body: { org: 'acme', requests_per_second: 5, records_per_second: null },
  })
  expect((await send('PUT', '/v1/operator/organisations/nobody/limits', {}, as('operator-key'))).status).toBe(404)
  expect((await send('POST', '/v1/operator/keys/none/rotate', {}, as('operator-key'))).status).toBe(404)
  expect((await send('POST', '/v1/operator/keys/none/revoke', undefined, as('operator-key'))).status).toBe(404)
})

it("rotates no operator's key", async () => {
  const made = await issue('weir')
  Object.assign(keys.all.get(made.keyId) ?? {}, { is_operator: true })
  expect((await send('POST', `/v1/operator/keys/${made.keyId}/rotate`, {}, as('operator-key'))).status).toBe(409)
})

it.each([
  ['POST', '/v1/operator/keys', {}],
  ['POST', '/v1/operator/keys', { org: 'Acme' }],
  ['POST', '/v1/operator/keys', { org: 'acme', scopes: [] }],
  ['POST', '/v1/operator/keys', { org: 'acme', scopes: ['shop:write'] }],
  ['POST', '/v1/operator/keys', { org: 'acme', operator: true }],
  ['POST', '/v1/operator/keys', { org: 'acme', expires_in_seconds: 0 }],
  ['POST', '/v1/operator/keys', { org: 'acme', name: ' ' }],
  ['POST', '/v1/operator/keys', { org: 'acme', name: 'two\nlines' }],
  ['PATCH', '/v1/operator/keys/key0', { name: 'x'.repeat(101) }],
  ['PATCH', '/v1/operator/keys/key0', {}],
  ['POST', '/v1/operator/keys/key0/rotate', { grace_seconds: -1 }],
  ['PUT', '/v1/operator/organisations/acme/limits', { requests_per_second: '5' }],
  ['PUT', '/v1/operator/organisations/acme/limits', { records_per_second: 1.5 }],
  ['GET', '/v1/operator/keys?org=Acme', undefined],
  ['GET', '/v1/operator/keys?cursor=key0', undefined],
  ['GET', `/v1/operator/keys?cursor=${writeCursor(['a\0'])}`, undefined],
  ['GET', '/v1/operator/keys?limit=1001', undefined],
  ['GET', '/v1/operator/keys?state=gone', undefined],
  ['GET', '/v1/operator/audit?cursor=x', undefined],
  ['GET', '/v1/operator/figures?hours=2161', undefined],
  ['GET', `/v1/operator/figures?cursor=${writeCursor(['acme', 5])}`, undefined],
  ['GET', '/v1/operator/organisations?prefix=%25', undefined],
  ['GET', '/v1/operator/organisations?cursor=WyJhIl', undefined],
] as const)('refuses %s %s %j', async (method, url, body) => {
  expect((await send(method, url, body, as('operator-key'))).status).toBe(400)
})

it('lets an operator, and nobody else, look at an organisation by ?org=', async () => {
  const asked: string[] = []
  const { list } = rejections
  rejections.list = async (org, page) => {
    asked.push(org)
    return list(org, page)
  }
  expect((await send('GET', '/v1/rejections?org=acme&limit=5', undefined, as('operator-key'))).status).toBe(200)
  expect((await send('GET', '/v1/rejections', undefined, as('operator-key'))).status).toBe(200)
  expect(asked).toEqual(['acme', 'weir'])
  expect((await send('GET', '/v1/rejections?org=other')).status).toBe(400)
  expect((await send('GET', '/v1/rejections?org=A*', undefined, as('operator-key'))).status).toBe(400)
  // Nobody uploads or retries in somebody else's name.
  const order = await send('POST', '/v1/rejections/retry?org=acme', { filter: { type: 'shops' } }, as('operator-key'))
  expect(order.status).toBe(400)
  const upload = await send('POST', '/v1/data/shops?org=acme', { records: [{}] }, as('operator-key'))
  expect(upload.status).toBe(400)
})

it.each([
  ['organisations', '', 'org'],
  ['organisations', '&prefix=many-1', 'org'],
  ['keys', '', 'key_id'],
  ['keys', '&org=many-1', 'key_id'],
] as const)('gives %s%s in pages, each of them once and in the order of the whole list', async (list, which, name) => {
  for (let n = 0; n < 25; n++) await issue(`many-${n % 13}`)
  type Listed = Record<string, unknown>
  const pageOf = async (more: string): Promise<{ ids: unknown[]; next_cursor: string | null }> => {
    const { status, body } = await send('GET', `/v1/operator/${list}?${more}${which}`, undefined, as('looker-key'))
    expect(status).toBe(200)
    return { ids: body[list].map((one: Listed) => one[name]), next_cursor: body.next_cursor }
  }
  const whole = await pageOf('')
  expect(whole.next_cursor).toBeNull()
  expect(whole.ids.length).toBeGreaterThan(1)
  const pages: unknown[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { ids, next_cursor } = await pageOf(`limit=2${cursor && `&cursor=${cursor}`}`)
    expect(ids.length).toBe(next_cursor === null ? whole.ids.length - pages.length : 2)
    pages.push(...ids)
    cursor = next_cursor
  }
  expect(pages).toEqual(whole.ids)
})
