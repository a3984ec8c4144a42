import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Wait } from '#ledger/waiting/look-up.js'
import { laneOf, placeOf } from '#platform/kafka/partitions.js'
import type { Resumed, SubmittedBatch } from '#schemas/events.js'
import { offer } from '#schemas/records/offer.js'
import { versionOf } from '#schemas/version.js'
import { checkAccepted } from '../../../../../services/operator/verify/checks/check-accepted.js'
import { checkRejected } from '../../../../../services/operator/verify/checks/check-rejected.js'
import { checkWaits } from '../../../../../services/operator/verify/checks/check-waits.js'
import { mend } from '../../../../../services/operator/verify/mend.js'
import { readSubmitted } from '../../../../../services/operator/verify/read-submitted.js'
import { batchOf } from '../../../../support/batch.js'
import { sampleOf } from '../../../../support/sample.js'
import { createFakeSubject, now } from '../fake-subject.js'

const until = now + 3_600_000
/** When the rows of this test are old enough to be judged. */
const later = now + 120_000
const missing = [{ field: 'shop_id', type: 'shops', id: randomUUID() }]

/** The records of a batch share a lane. */
const idInFirstLane = (lanes: number): string => {
  const id = randomUUID()
  return laneOf(id, lanes) === 0 ? id : idInFirstLane(lanes)
}

/** A batch of three offers: the first was accepted, the other two wait. */
const withWaiting = (options: { org?: string; lanes?: number } = {}) => {
  const { lanes = 1, ...rest } = options
  const layout = { lanes, submittedPartitions: 4, acceptedPartitions: 4 }
  const system = createFakeSubject({ types: [offer], layout, ...rest })
  const ids = Array.from({ length: 3 }, () => idInFirstLane(lanes))
  const batch = batchOf(
    offer,
    ids.map((offer_id) => sampleOf(offer, { offer_id })),
    { first_index: 500, wait_until: until },
  )
  const waiting = [1, 2].map((index) => ({ index, id: ids[index] ?? '', for: missing, until }))
  const place = system.submit(offer, batch)
  const decided = system.decide(offer, batch, place, { accepted: 1, waiting })
  system.publish(decided)
  for (const at of [1, 2]) {
    system.waits.push({
      ...{ orgId: 'acme', type: 'offers', id: ids[at] ?? '', requestId: batch.request_id, batchId: batch.batch_id },
      ...{ place: at, index: 500 + at, state: 'waiting', missing, since: new Date(now), until: new Date(until) },
      ...{ changedAt: new Date(now), problems: null, acceptedVersion: null },
    })
  }
  const waitAt = (at: number): Wait => system.waits.find((wait) => wait.place === at) as Wait

  /** Has records of that batch decided anew, as integrity's relay does; `ends` says what becomes of each. */
  const resume = (ends: Record<number, 'accepted' | 'refused' | 'waiting' | 'gone'>) => {
    const places = Object.keys(ends).map(Number)
    const batchId = randomUUID()
    const resumed = places.map(
      (at, index): Resumed => ({
        ...{ index, request_id: batch.request_id, batch_id: batch.batch_id, place: at, request_index: 500 + at },
        ...{ version: versionOf(place.offset, at), since: now, until },
      }),
    )
    const records = places.map((at, index) => ({ ...batch.records[at], index }) as SubmittedBatch['records'][number])
    const again = batchOf(offer, [], { batch_id: batchId, request_id: batchId, records, resumed })
    const at = (end: string) => places.flatMap((each, index) => (ends[each] === end ? [{ index, each }] : []))
    const submitted = system.submit(offer, again)
    const decidedAnew = system.decide(offer, again, submitted, {
      accepted: at('accepted').length,
      refused: at('refused').map(({ index, each }) => ({ index, id: ids[each] ?? '', problems: [] })),
      waiting: at('waiting').map(({ index, each }) => ({ index, id: ids[each] ?? '', for: missing, until })),
      gone: at('gone').map(({ index }) => index),
    })
    for (const { index, each } of at('accepted')) {
      Object.assign(waitAt(each), { state: 'accepted', acceptedVersion: versionOf(submitted.offset, index) })
    }
    for (const { each } of at('refused')) Object.assign(waitAt(each), { state: 'refused' })
    return decidedAnew
  }
  const check = async () => {
    for (const [i, id] of ids.entries()) {
      const events = system.eventsOf('weir.accepted.offers', `acme/${id}`)
      if (events.length > 0)
        system.rows.recent.set(`acme/${id}`, i === 0 ? versionOf(place.offset, 0) : (waitAt(i).acceptedVersion ?? 0))
    }
    const { subject } = system
    await checkWaits(subject, await readSubmitted(subject, system.ends()), later)
    const turnedBack = await checkAccepted(subject, system.ends(), () => true)
    await checkRejected(subject, system.ends())
    return turnedBack
  }
  return { ...system, batch, ids, waitAt, resume, check }
}

it('takes what waits for neither missing nor extra, and counts it', async () => {
  const system = withWaiting()
  await system.check()
  expect(system.found()).toEqual([])
  expect(system.countsOf(offer)).toMatchObject({ records: 3, accepted: 1, onTopic: 1, waitingForReferences: 2 })
})

describe.each([1, 4])('with %i lanes', (lanes) => {
  it('follows records that waited into the batches in which they were decided anew', async () => {
    const system = withWaiting({ lanes })
    const decided = system.resume({ 2: 'refused' })
    system.publishRejections(decided)
    system.publish(system.resume({ 1: 'waiting' }))
    system.publish(system.resume({ 1: 'accepted', 2: 'gone' }))
    system.rows.rejections.set(system.batch.batch_id, 1)
    await system.check()
    expect(system.found()).toEqual([])
    expect(system.countsOf(offer)).toMatchObject({
      ...{ batches: 4, records: 3, accepted: 2, refused: 1, onTopic: 2, onRejected: 1 },
      ...{ decidedAnew: 2, waitingForReferences: 0 },
    })
  })

  it('misses the events of records that waited, and mends them as integrity published them', async () => {
    const system = withWaiting({ lanes })
    const decided = system.resume({ 1: 'accepted', 2: 'refused' })
    const turnedBack = await system.check()
    expect(system.found().map(([kind]) => kind)).toEqual(['event_missing', 'rejection_missing'])
    expect(await mend(system.subject, turnedBack)).toEqual({ events: 1, rejections: 1, lost: [] })
    const key = `acme/${system.ids[1]}`
    const [mended] = system.eventsOf('weir.accepted.offers', key)
    system.publish(decided)
    expect(system.eventsOf('weir.accepted.offers', key).at(-1)?.value).toEqual(mended?.value)
    expect(system.eventsOf('weir.rejected', `acme/${system.batch.batch_id}`)).toHaveLength(1)
  })
})

it('misses the row of a rejection that came later, beside those of its batch that came at once', async () => {
  const system = withWaiting()
  system.publishRejections(system.resume({ 1: 'refused', 2: 'refused' }))
  system.rows.rejections.set(system.batch.batch_id, 1)
  await system.check()
  expect(system.found()).toEqual([['rejection_row_missing', `batch ${system.batch.batch_id}`, '1 of 2 rejections']])
})

it('counts what was superseded or cancelled', async () => {
  const system = withWaiting()
  Object.assign(system.waitAt(1), { state: 'superseded' })
  Object.assign(system.waitAt(2), { state: 'cancelled' })
  system.resume({ 1: 'gone', 2: 'gone' })
  await system.check()
  expect(system.found()).toEqual([])
  expect(system.countsOf(offer)).toMatchObject({ superseded: 1, cancelled: 1, decidedAnew: 0, waitingForReferences: 0 })
})

it('finds a record of whose waiting nothing is known, unless its verdict is gone too', async () => {
  const system = withWaiting()
  system.waits.shift()
  await system.check()
  expect(system.found()).toEqual([['wait_missing', `record 1 of batch ${system.batch.batch_id}`, 'no row of it']])

  const pruned = withWaiting()
  const batches = await readSubmitted(pruned.subject, pruned.ends())
  pruned.waits.length = 0
  pruned.forget({ type: offer, batch: pruned.batch, verdict: {} as never })
  await checkWaits(pruned.subject, batches, later)
  expect(pruned.found()).toEqual([])
})

describe('finds a row that tells another end than the log', () => {
  it.each([
    ['still waits', { 1: 'accepted' }, { state: 'waiting', acceptedVersion: null }, 'waiting, but accepted at'],
    ['has another version', { 1: 'accepted' }, { acceptedVersion: 7 * 8192 }, 'accepted with version 57344, but'],
    ['was refused', { 1: 'accepted' }, { state: 'refused', acceptedVersion: null }, 'refused, but accepted at'],
    ['still waits where the log refused it', { 1: 'refused' }, { state: 'waiting' }, 'waiting, but refused at'],
    ['waits again', { 1: 'gone' }, { state: 'waiting' }, 'waiting, but gone at'],
    ['was refused nowhere', {}, { state: 'refused' }, 'refused, but nowhere in the log'],
    ['was accepted nowhere', {}, { state: 'accepted', acceptedVersion: 0 }, 'accepted with version 0, but at'],
  ] as const)('%s', async (_, ends, over, words) => {
    const system = withWaiting()
    const decided = system.resume(ends)
    system.publish(decided)
    system.publishRejections(decided)
    const rejected = Object.values(ends).filter((end) => (end as string) === 'refused').length
    system.rows.rejections.set(system.batch.batch_id, rejected)
    Object.assign(system.waitAt(1), over)
    await checkWaits(system.subject, await readSubmitted(system.subject, system.ends()), later)
    const found = system.found()
    expect(found.map(([kind]) => kind)).toEqual(['wait_disagrees'])
    expect(found[0]?.[2]).toContain(words)
  })
})

it.each([
  { state: 'accepted' as const, acceptedVersion: versionOf(1, 0) },
  { state: 'refused' as const, acceptedVersion: null },
])('does not miss in the log what an erasure took out of it: $state', async (end) => {
  const check = async (isErased: boolean) => {
    const system = withWaiting()
    const [begun] = await readSubmitted(system.subject, system.ends())
    const place = { topic: 'weir.submitted.offers', partition: begun?.partition ?? 0 }
    // The batch that decided it lay at offset 1.
    system.append(place.topic, place.partition, 'acme', null)
    const next = batchOf(offer, [sampleOf(offer, { offer_id: idInFirstLane(1) })])
    system.decide(offer, next, system.submit(offer, next))
    Object.assign(system.waitAt(1), end)
    if (isErased) system.erased.holes.set(placeOf(place), new Set([1]))
    await checkWaits(system.subject, await readSubmitted(system.subject, system.ends()), later)
    return system.found().map(([kind]) => kind)
  }
  expect(await check(false)).toEqual(['wait_disagrees'])
  expect(await check(true)).toEqual([])
})

it('does not miss in the log what may have been refused since it was read', async () => {
  const system = withWaiting()
  Object.assign(system.waitAt(1), { state: 'refused' })
  await checkWaits(system.subject, await readSubmitted(system.subject, system.ends()), later - 61_000)
  expect(system.found()).toEqual([])
})

it('takes an accepted event of a record that still waits for unfounded', async () => {
  const system = withWaiting()
  const { batch } = system
  const verdict = { ...(await system.subject.decisions.verdicts([batch.batch_id])).get(batch.batch_id) }
  system.publish({ type: offer, batch, verdict: { ...verdict, waiting: [] } as never }, (i) => i === 1)
  await system.check()
  expect(system.found().map(([kind]) => kind)).toContain('event_unfounded')
})
