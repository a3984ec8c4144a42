import { describe, expect, it } from 'vitest'
import { newId } from '#http/ids.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import { usualLayout } from '#schemas/derive/topics.js'
import { interaction } from '#schemas/records/interaction.js'
import { gatheredRequestId, isGathered } from '#schemas/uuid.js'
import { csvOf, ndjsonOf } from '../../../support/lined.js'
import { sampleOf } from '../../../support/sample.js'
import { createEdge, startOfTest } from '../edge.js'
import { createFakeLag } from '../fakes/lag.fake.js'

const path = '/v1/data/interactions'
const some = (count: number) => Array.from({ length: count }, (_, i) => sampleOf(interaction, { user_id: `user ${i}` }))
const keyed = (key: string) => ({ 'idempotency-key': key })

type Edge = ReturnType<typeof createEdge>
const idsIn = ({ submit }: Edge) =>
  submit.submitted.flatMap(({ batch }) => batch.records.map(({ interaction_id }) => String(interaction_id)))
const batchIdsIn = ({ submit }: Edge) => submit.submitted.map(({ batch }) => batch.batch_id)

describe('many interactions in a request', () => {
  it('get ids and the time from the service, and go to one partition whatever their number', async () => {
    const edge = createEdge({ batchLimits: { records: 7, bytes: 1024 } })
    const { status, body } = await edge.send('POST', path, { records: some(1200) })
    expect([status, body.batches.length]).toEqual([200, 3])
    const ids = idsIn(edge)
    expect(new Set(ids).size).toBe(1200)
    expect(ids.map((id) => Number.parseInt(id.slice(-4), 16))).toEqual(ids.map((_, i) => i))
    for (const { batch, lane } of edge.submit.submitted) {
      expect(lane).toBe(partitionOf(body.request_id, usualLayout.submittedPartitions))
      expect(batch.gathered).toBe(false)
      for (const record of batch.records) expect([record.recorded_at, record.keyed_sha256]).toEqual([startOfTest, null])
    }
    const users = edge.submit.submitted.flatMap(({ batch }) => batch.records.map(({ user_id }) => user_id))
    expect(users).toEqual(some(1200).map(({ user_id }) => user_id))
  })

  it('have the same ids, batches and partition each time that they are sent with a key, and others with another', async () => {
    const given = [0, 1, 2].map(() => createEdge())
    const [first, again, other] = given as [Edge, Edge, Edge]
    await first.send('POST', path, { records: some(600) }, keyed('a'))
    // Other settings of the edge change nothing of that, nor do other lanes.
    const wider = createEdge({
      batchLimits: { records: 10, bytes: 2048 },
      layout: () => ({ ...usualLayout, lanes: 3 }),
    })
    for (const edge of [again, wider]) {
      await edge.send('POST', path, { records: some(600) }, keyed('a'))
      expect(idsIn(edge)).toEqual(idsIn(first))
      expect(batchIdsIn(edge)).toEqual(batchIdsIn(first))
      expect(edge.submit.submitted.map(({ lane }) => lane)).toEqual(first.submit.submitted.map(({ lane }) => lane))
    }
    await other.send('POST', path, { records: some(600) }, keyed('b'))
    expect(idsIn(other).filter((id) => idsIn(first).includes(id))).toEqual([])
    const stranger = createEdge()
    await stranger.send('POST', path, { records: some(600) }, { ...keyed('a'), authorization: 'Bearer other-key' })
    expect(idsIn(stranger).filter((id) => idsIn(first).includes(id))).toEqual([])
  })

  it('are led around a partition that does not move, unless they have a key', async () => {
    const lag = { ...createFakeLag(), wayAround: () => 77 }
    const edge = createEdge({ lag })
    await edge.send('POST', path, { records: some(1) })
    await edge.send('POST', path, { records: some(1) }, keyed('a'))
    const [around, own] = edge.submit.submitted.map(({ lane }) => lane)
    expect(around).toBe(77)
    expect(own).toBeLessThan(usualLayout.submittedPartitions)
  })

  it('wait with a key until all is decided that was sent before the lanes were changed', async () => {
    const edge = createEdge({ layout: () => ({ ...usualLayout, isDecidedBefore: false }) })
    expect((await edge.send('POST', path, { records: some(1) }, keyed('a'))).status).toBe(503)
    expect((await edge.send('POST', path, { records: some(1) })).status).toBe(200)
  })

  it.each([
    ['NDJSON', 'application/x-ndjson', ndjsonOf(some(3))],
    ['CSV', 'text/csv', csvOf(interaction, some(3))],
  ])('may come as %s', async (_, type, text) => {
    const edge = createEdge()
    const { status } = await edge.send('POST', path, text, { 'content-type': type })
    expect([status, idsIn(edge).length]).toEqual([200, 3])
  })

  it('are refused one by one, and none can name what the service gives', async () => {
    const edge = createEdge()
    const records: Record<string, unknown>[] = some(4)
    records[1] = { ...records[1], interaction_id: newId() }
    records[2] = { ...records[2], recorded_at: '2024-01-01T00:00:00Z' }
    const { status, body } = await edge.send('POST', path, { records })
    expect(status).toBe(207)
    expect(body.batches[0].data.errors).toMatchObject([
      { index: 1, problems: [{ field: 'interaction_id', code: 'unknown_field' }] },
      { index: 2, problems: [{ field: 'recorded_at', code: 'unknown_field' }] },
    ])
    expect(idsIn(edge).map((id) => id.slice(-4))).toEqual(['0000', '0003'])
  })

  it('replace nothing, so that if_version is refused with the reason', async () => {
    const { send, submit } = createEdge()
    const { status, body } = await send('POST', `${path}?if_version=none`, { records: some(1) })
    expect([status, body.message]).toEqual([400, 'if_version is not for interactions: they replace nothing'])
    expect(submit.submitted).toEqual([])
  })

  it('can be tried out', async () => {
    const { send, submit, known } = createEdge()
    const [one] = some(1)
    const tried = () => send('POST', `${path}?dry_run=true`, { records: [one] })
    expect((await tried()).status).toBe(400)
    known.add(`acme/tags/${one?.item_id}`)
    known.add(`acme/customers/${one?.student_id}`)
    expect((await tried()).status).toBe(200)
    expect(submit.submitted).toEqual([])
  })

  it('need the scope of interactions', async () => {
    const { send, callers } = createEdge()
    const status = async (scopes: string[]) => {
      callers.set('acme-key', { orgId: 'acme', keyId: 'k1', scopes })
      return (await send('POST', path, { records: some(1) })).status
    }
    expect(await status(['data:write'])).toBe(403)
    expect(await status(['interactions:write'])).toBe(200)
  })

  it('have no addresses of their own', async () => {
    const { send } = createEdge()
    const { status, body } = await send('DELETE', `${path}/${newId()}`)
    expect([status, body.message]).toEqual([
      405,
      'interactions have no addresses of their own, and stay as they were recorded',
    ])
  })
})

it('never takes a request for a batch that interactions were gathered in', () => {
  for (let n = 0; n < 1000; n++) expect(isGathered(newId())).toBe(false)
  expect(isGathered(gatheredRequestId(newId()))).toBe(true)
})
