import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { createEdge } from '../edge/edge.js'

const id = randomUUID()
const request = randomUUID()
const { send, callers } = createEdge({
  findThings: async (org, asked) =>
    org === 'acme' && asked === id
      ? [
          { kind: 'batch', type: 'tags', requestId: request },
          { kind: 'record', type: 'shops', requestId: null },
          { kind: 'request', type: 'tags', requestId: null },
        ]
      : [],
  findStored: async (org, asked) => ({
    types: org === 'acme' && asked === id ? ['offers', 'shops'] : [],
    complete: true,
  }),
  findKeyOrg: async (key) => (key === 'k7f3a9c1' ? 'acme' : undefined),
})
const find = async (text: string, key = 'acme-key') =>
  send('GET', `/v1/find?id=${encodeURIComponent(text)}`, undefined, { authorization: `Bearer ${key}` })

it('finds whatever of its own has an id, each thing once, however the id is written', async () => {
  const { status, body } = await find(` ${id.toUpperCase()} `)
  expect(status).toBe(200)
  expect(body).toEqual({
    found: [
      { kind: 'record', type: 'offers', id },
      { kind: 'record', type: 'shops', id },
      { kind: 'batch', type: 'tags', id, request_id: request },
      { kind: 'request', type: 'tags', id },
    ],
    complete: true,
  })
  expect((await find(id, 'other-key')).body.found).toEqual([])
  expect((await find('nothing')).body).toEqual({ found: [], complete: true })
  expect((await send('GET', '/v1/find')).status).toBe(400)
})

it('tells of records only those who may read data, and of keys operators and those who manage them', async () => {
  callers.set('narrow-key', { orgId: 'acme', keyId: 'k1', scopes: ['requests:read'] })
  const narrow = await find(id, 'narrow-key')
  expect(narrow.body.found.map(({ kind }: { kind: string }) => kind)).toEqual(['batch', 'request'])
  expect((await find('k7f3a9c1')).body.found).toEqual([])
  callers.set('operator-key', { orgId: 'weir', keyId: 'k9', scopes: null, isOperator: true })
  expect((await find('k7f3a9c1', 'operator-key')).body.found).toEqual([{ kind: 'key', id: 'k7f3a9c1', org: 'acme' }])
  callers.set('narrow-operator-key', { orgId: 'weir', keyId: 'k8', scopes: ['requests:read'], isOperator: true })
  expect((await find('k7f3a9c1', 'narrow-operator-key')).body.found).toEqual([])
  for (const [orgId, count] of [
    ['acme', 1],
    ['other', 0],
  ] as const) {
    callers.set('manager-key', { orgId, keyId: 'k7', scopes: ['requests:read', 'keys:manage'] })
    expect((await find('k7f3a9c1', 'manager-key')).body.found).toHaveLength(count)
  }
  const other = await send('GET', `/v1/find?id=${id}&org=acme`, undefined, { authorization: 'Bearer operator-key' })
  expect(other.body.found).toHaveLength(4)
})
