import { expect, it } from 'vitest'
import { newId } from '#http/ids.js'
import { catalogue } from '#schemas/catalogue.js'
import { usualLayout } from '#schemas/derive/topics.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { tag } from '#schemas/records/tag.js'
import { createPlaces } from '../../../../services/edge/batches/places.js'
import { createBacklog } from '../../../../services/edge/limits/backlog.js'
import { createLag } from '../../../../services/edge/limits/lag.js'
import { createVerdicts } from '../../../../services/edge/stream/verdicts.js'
import { sampleOf } from '../../../support/sample.js'
import { createEdge, silent } from '../edge.js'
import { createFakeLag } from '../fakes/lag.fake.js'
import { createFakeVerdictStore } from '../fakes/verdict-store.fake.js'

it('takes nothing in of what integrity is far behind with, and everything else', async () => {
  const lagging = new Set<string>()
  const { send, submit, metrics } = createEdge({
    lag: createFakeLag({ isLagging: (type, orgId) => lagging.has(`${type}/${orgId}`) }),
  })
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

const none = { lagAt: () => 0 }
const layout = { ...usualLayout, lanes: 2 }
const places = createPlaces(catalogue, layout)
const batchIn = (type: string, partition: number, org_id = 'acme', batch_id = newId()): Placed => {
  const batch = { org_id, batch_id, lane: places.partitionsFor(type, org_id).indexOf(partition) }
  return places.partitionFor(type, batch) === partition ? batch : batchIn(type, partition, org_id)
}
type Placed = { org_id: string; batch_id: string; lane: number }

it('counts by partition: one that stands still keeps out only what belongs there', async () => {
  const clock = { ms: 0 }
  const verdicts = createVerdicts({ store: createFakeVerdictStore(), timeout: 1000, now: () => clock.ms, log: silent })
  const lag = createLag({ places: () => places, verdicts, backlog: none, most: 5_000 })
  const expectIn = (type: string, batch: Placed) =>
    verdicts.expect(
      { ...batch, records: { length: 1 }, refusals: [] },
      places.placeOf(type, places.partitionFor(type, batch)),
    )
  const [first = 0, second = 0] = places.partitionsFor('shops', 'acme')
  expectIn('shops', batchIn('shops', first))
  expectIn('interactions', batchIn('interactions', 3))
  clock.ms = 7_000
  expectIn('interactions', batchIn('interactions', 2, 'other'))
  clock.ms = 8_000

  expect(lag.isLagging('shops', 'acme')).toBe(false)
  expect(lag.isPartlyLagging('shops', 'acme')).toBe(true)
  expect([first, second].map((partition) => lag.isBehind('shops', batchIn('shops', partition)))).toEqual([true, false])
  expect(lag.lagOf('shops', 'acme')).toBe(8_000)
  expectIn('shops', batchIn('shops', second))
  clock.ms = 13_000
  expect(lag.isLagging('shops', 'acme')).toBe(true)
  expect(lag.isLagging('shops', 'other')).toBe(false)

  // Of interactions those go around that would go where others, of any organisation, are not decided.
  expect(lag.isLagging('interactions', 'acme')).toBe(false)
  const ways = Array.from({ length: 60 }, () => {
    const batch = { org_id: 'acme', batch_id: newId() }
    const usual = places.partitionFor('interactions', batch)
    const around = lag.wayAround('interactions', batch)
    expect(around === undefined).toBe(usual < 2)
    return around ?? usual
  })
  expect([...new Set(ways)].sort()).toEqual([0, 1])
})

it('spreads interactions over all partitions while all are slow', () => {
  const lag = createLag({
    places: () => places,
    verdicts: { lagAt: () => 60_000, lagOf: () => 0, expectedLagOf: () => 0 },
    backlog: none,
    most: 5_000,
  })
  expect(lag.wayAround('interactions', { org_id: 'acme', batch_id: newId() })).toBeUndefined()
})

it('says nothing of a lag while the layout is not known', () => {
  const never = () => Number.POSITIVE_INFINITY
  const lag = createLag({
    places: () => undefined,
    verdicts: { lagAt: never, lagOf: never, expectedLagOf: never },
    backlog: none,
    most: 5_000,
  })
  const batch = { org_id: 'acme', batch_id: newId() }
  expect([lag.isLagging('shops', 'acme'), lag.isBehind('shops', batch), lag.lagOf('shops', 'acme')]).toEqual([
    false,
    false,
    0,
  ])
  expect(lag.wayAround('interactions', batch)).toBeUndefined()
})

it('takes in what goes to other lanes, says which batches it did not, and takes those when they are sent again', async () => {
  const stuck = new Set([1])
  const { send, submit } = createEdge({
    layout: () => layout,
    lag: createFakeLag({ isBehind: (_type, { lane }) => stuck.has(lane ?? 0) }),
  })
  const records = Array.from({ length: 20 }, () => sampleOf(shop))
  const keyed = { 'idempotency-key': 'once' }
  const answer = await send('POST', '/v1/data/shops', { records }, keyed)
  expect([answer.status, answer.headers['retry-after']]).toEqual([207, '5'])
  expect(answer.body.batches).toMatchObject([
    { batch: 1, status: 200 },
    {
      batch: 2,
      status: 500,
      data: {
        message: 'the batch was not submitted',
        error: expect.stringMatching(/still to be decided.*retrying is safe/),
      },
    },
  ])
  expect(submit.submitted.map(({ lane }) => lane)).toEqual([0])

  stuck.clear()
  const again = await send('POST', '/v1/data/shops', { records }, keyed)
  expect([again.status, again.body.batches.length]).toEqual([200, 2])

  stuck.add(0).add(1)
  expect((await send('POST', '/v1/data/shops', { records })).status).toBe(503)
})

it('knows of what lay in the log when it started, until that is decided', async () => {
  const clock = { ms: 1_000 }
  const cursors = new Map<string, number>()
  const asked = { times: 0, isReady: false }
  const [first = 0, second = 0] = places.partitionsFor('shops', 'acme')
  const stretch = (partition: number, until: number) => ({ topic: 'weir.submitted.shops', partition, from: 0, until })
  const backlog = createBacklog({
    stretches: async () => (asked.isReady ? [stretch(first, 7), stretch(second, 0)] : undefined),
    cursors: async () => {
      asked.times++
      return cursors
    },
    now: () => clock.ms,
    log: silent,
  })
  const idle = { lagAt: () => 0, lagOf: () => 0, expectedLagOf: () => 0 }
  const lag = createLag({ places: () => places, verdicts: idle, backlog, most: 5_000 })
  const areBehind = () => [first, second].map((partition) => lag.isBehind('shops', batchIn('shops', partition)))
  await backlog.tick()
  asked.isReady = true
  await backlog.tick()
  clock.ms = 5_999
  expect(areBehind()).toEqual([false, false])
  clock.ms = 6_000
  expect(areBehind()).toEqual([true, false])
  cursors.set(places.placeOf('shops', first), 6)
  await backlog.tick()
  expect(areBehind()).toEqual([true, false])
  cursors.set(places.placeOf('shops', first), 7)
  await backlog.tick()
  expect(areBehind()).toEqual([false, false])
  await backlog.tick()
  expect(asked.times).toBe(3)
})
