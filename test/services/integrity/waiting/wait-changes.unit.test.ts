import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Submitted } from '#ledger/fence.js'
import type { SubmittedBatch } from '#schemas/events.js'
import { branch } from '#schemas/records/branch.js'
import { interaction } from '#schemas/records/interaction.js'
import { versionOf } from '#schemas/version.js'
import { decideFetch, type Known } from '../../../../services/integrity/decide-fetch.js'
import { batchOf, refusalOf } from '../../../support/batch.js'
import { sampleOf } from '../../../support/sample.js'

const now = Date.UTC(2026, 5, 1)
const until = now + 60_000
const decide = (batches: SubmittedBatch[], known: Partial<Known> = {}, type = branch) => {
  const at = { topic: 't', partition: 3, type, isReferenced: false, first: 0, next: batches.length }
  const fresh: Submitted[] = batches.map((batch, offset) => ({ offset, timestamp: now, batch }))
  return decideFetch(
    at,
    fresh,
    {
      isKnown: () => false,
      takenBefore: new Map(),
      bodies: new Map(),
      waiting: [],
      roomToWait: () => ({ records: 10, bytes: 1000 }),
      sizeOf: () => 1,
      ...known,
    },
    now,
  )
}
const waitingOf = (id: string, over = {}) => ({
  waiting: [
    {
      orgId: 'acme',
      id,
      batchId: 'older',
      place: 7,
      version: 5,
      keyedSha256: null,
      missing: [],
      until,
      size: 1,
      ...over,
    },
  ],
})
const superseded = { batchId: 'older', place: 7, state: 'superseded', problems: null, acceptedVersion: null }

it('notes where a record that begins to wait came from', () => {
  const given = sampleOf(branch)
  const batch = batchOf(branch, [sampleOf(branch), given], { wait_until: until, first_index: 500 })
  const { waits, verdicts } = decide([batch])
  expect(waits.begun[1]).toEqual({
    batchId: batch.batch_id,
    place: 1,
    orgId: 'acme',
    type: 'branches',
    id: given.branch_id,
    requestId: batch.request_id,
    requestIndex: 501,
    version: versionOf(0, 1),
    topic: 't',
    partition: 3,
    keyedSha256: null,
    missing: [{ field: 'shop_id', type: 'shops', id: given.shop_id }],
    since: batch.submitted_at,
    until,
    size: 1,
    state: 'waiting',
  })
  expect(verdicts[0]).toMatchObject({ accepted: 0, refused: [], waiting: [{ index: 0 }, { index: 1 }] })
})

it.each([
  ['accepted', { isKnown: () => true }, {}],
  ['waiting', {}, { wait_until: until }],
  ['refused', {}, {}],
  ['refused for want of room', { roomToWait: () => ({ records: 0, bytes: 1000 }) }, { wait_until: until }],
])('lets a newer record that is %s end the one that waits', (_, known, over) => {
  const given = sampleOf(branch)
  const { waits } = decide([batchOf(branch, [given], over)], { ...waitingOf(String(given.branch_id)), ...known })
  expect(waits.ended).toMatchObject([superseded])
})

it('lets a record that the edge refused end the one that waits, whatever the case of its id', () => {
  const id = randomUUID()
  const batch = batchOf(branch, [], { refusals: [refusalOf(0, null), refusalOf(1, id.toUpperCase())] })
  expect(decide([batch], waitingOf(id)).waits.ended).toMatchObject([superseded])
})

it('takes a batch in its order: what comes after a record ends its waiting, what came before does not', () => {
  const given = sampleOf(branch)
  const id = String(given.branch_id)
  const record = batchOf(branch, [given]).records[0]
  if (!record) throw new Error('no record')
  const withRefusalAt = (index: number) =>
    batchOf(branch, [], { records: [{ ...record, index: 1 }], refusals: [refusalOf(index, id)], wait_until: until })
  expect(decide([withRefusalAt(0)]).waits.begun).toMatchObject([{ state: 'waiting' }])
  expect(decide([withRefusalAt(2)]).waits.begun).toMatchObject([{ state: 'superseded' }])
})

it('follows an id through the batches of a fetch', () => {
  const given = sampleOf(branch)
  const batches = [1, 2, 3].map(() => batchOf(branch, [given], { wait_until: until }))
  const { waits } = decide(batches, waitingOf(String(given.branch_id)))
  expect(waits.ended).toMatchObject([superseded])
  expect(waits.begun.map(({ batchId, state }) => [batchId, state])).toEqual([
    [batches[0]?.batch_id, 'superseded'],
    [batches[1]?.batch_id, 'superseded'],
    [batches[2]?.batch_id, 'waiting'],
  ])
})

it('ends nothing for a request whose key was used with another body', () => {
  const given = sampleOf(branch)
  const batch = batchOf(branch, [given], { refusals: [refusalOf(1, String(given.branch_id))] })
  const bodies = new Map([[batch.request_id, Buffer.alloc(32, 9)]])
  expect(decide([batch], { ...waitingOf(String(given.branch_id)), bodies }).waits.ended).toEqual([])
})

it('leaves a keyed interaction waiting that comes again, and tells where it waits', () => {
  const [sha, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const id = randomUUID()
  const again = (keyed_sha256: Buffer) => {
    const batch = batchOf(interaction, [sampleOf(interaction)], { gathered: true })
    Object.assign(batch.records[0] ?? {}, { interaction_id: id, keyed_sha256 })
    return { ...batch, keyed_requests: [{ index: 0, request_id: randomUUID() }] }
  }
  const { waits, verdicts, requests } = decide(
    [again(sha), again(other)],
    { ...waitingOf(id, { keyedSha256: sha }), isKnown: () => true },
    interaction,
  )
  expect(waits).toEqual({ begun: [], ended: [], prolonged: [] })
  expect(verdicts).toMatchObject([
    { accepted: 0, waiting: [{ index: 0, until }], repeated: [0] },
    { accepted: 0, refused: [{ problems: [{ code: 'idempotency_conflict' }] }] },
  ])
  expect(requests).toMatchObject([{ batchId: verdicts[1]?.batch_id, isAccepted: false }])
})

const resumeOf = (given: Record<string, unknown>, over = {}) => {
  const from = { index: 0, request_id: 'r', batch_id: 'older', place: 7, request_index: 7, version: 5, since: 0, until }
  return batchOf(branch, [given], { resumed: [{ ...from, ...over }] })
}

it('ends a record that waited as accepted or refused, or has it go on, once', () => {
  const given = sampleOf(branch)
  const there = waitingOf(String(given.branch_id))
  const accepted = decide([resumeOf(given), resumeOf(given)], { ...there, isKnown: () => true })
  expect(accepted.waits.ended).toMatchObject([
    { batchId: 'older', state: 'accepted', acceptedVersion: versionOf(0, 0) },
  ])
  expect(accepted.verdicts).toMatchObject([{ accepted: 1 }, { accepted: 0, gone: [0] }])

  const refused = decide([resumeOf(given, { until: now })], there)
  expect(refused.waits.ended).toMatchObject([{ state: 'refused', problems: [{ code: 'unknown_reference' }] }])

  const on = decide([resumeOf(given), batchOf(branch, [given])], there)
  const missing = [{ field: 'shop_id', type: 'shops', id: given.shop_id }]
  expect(on.waits.prolonged).toEqual([{ batchId: 'older', place: 7, missing }])
  expect(on.waits.ended).toMatchObject([superseded])
})

it('leaves alone what took the place of the record that waited', () => {
  const given = sampleOf(branch)
  const newer = batchOf(branch, [given], { wait_until: until })
  const { waits, verdicts } = decide([newer, resumeOf(given)], waitingOf(String(given.branch_id)))
  expect(waits.ended).toMatchObject([superseded])
  expect(waits.begun).toMatchObject([{ batchId: newer.batch_id, state: 'waiting' }])
  expect(verdicts[1]).toMatchObject({ accepted: 0, refused: [], gone: [0] })
})
