import { expect, it } from 'vitest'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { tag } from '#schemas/records/tag.js'
import { sampleOf } from '../../../support/sample.js'
import { createEdge } from '../edge.js'

it('takes nothing in of what integrity is far behind with, and everything else', async () => {
  const lagging = new Set<string>()
  const { send, submit, metrics } = createEdge({ isLagging: (type, orgId) => lagging.has(`${type}/${orgId}`) })
  const sendAll = async () => [
    await send('POST', '/v1/data/shops', { records: [sampleOf(shop)] }),
    await send('POST', '/v1/data/tags', { records: [sampleOf(tag)] }),
    await send('POST', '/v1/data/shops', { records: [sampleOf(shop)] }, { authorization: 'Bearer other-key' }),
    await send('POST', '/user-interactions', sampleOf(interaction)),
    await send('GET', '/user-interactions'),
  ]
  const statuses = async () => (await sendAll()).map(({ status }) => status)
  expect(await statuses()).toEqual([200, 200, 200, 201, 200])

  lagging.add('shops/acme').add('interactions/acme')
  const submitted = submit.submitted.length
  expect(await statuses()).toEqual([503, 200, 200, 503, 200])
  expect(submit.submitted).toHaveLength(submitted + 2)
  const [refused] = await sendAll()
  expect(refused?.headers['retry-after']).toBe('5')
  expect(refused?.body.message).toContain('still to be decided')
  expect(await metrics.text()).toContain('weir_edge_shed_total{reason="lag"} 4')

  lagging.clear()
  expect(await statuses()).toEqual([200, 200, 200, 201, 200])
})
