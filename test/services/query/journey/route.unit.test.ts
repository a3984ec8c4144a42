import { expect, it } from 'vitest'
import { createEdge } from '../../edge/edge.js'

const id = '3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b'

it('answers an organisation about its own record, and nobody else', async () => {
  const asked: string[] = []
  const { send } = createEdge({
    findJourney: async (orgId, { type }, record) => {
      asked.push(`${orgId}/${type}/${record}`)
      return orgId === 'acme' ? { type, id: record, steps: [], refers_to: [], referred_by: [] } : undefined
    },
  })
  expect((await send('GET', `/v1/data/shops/${id.toUpperCase()}/journey`)).body).toMatchObject({ type: 'shops', id })
  const other = { authorization: 'Bearer other-key' }
  expect((await send('GET', `/v1/data/shops/${id}/journey`, undefined, other)).status).toBe(404)
  expect(asked).toEqual([`acme/shops/${id}`, `other/shops/${id}`])
  const narrow = { authorization: 'Bearer shops-key' }
  expect((await send('GET', `/v1/data/shops/${id}/journey`, undefined, narrow)).status).toBe(403)
  expect((await send('GET', '/v1/data/shops/x/journey')).status).toBe(404)
  expect((await send('GET', `/v1/data/shop/${id}/journey`)).body.message).toContain('did you mean shops?')
  expect((await send('GET', `/v1/data/shops/${id}/journey?x=1`)).status).toBe(400)
  expect((await send('POST', `/v1/data/shops/${id}/journey`, {})).status).toBe(405)
})
