import { expect, it } from 'vitest'
import { tag } from '#schemas/records/tag.js'
import { missingOf } from '../../../../services/operator/verify/expectations.js'
import { readSubmitted } from '../../../../services/operator/verify/read-submitted.js'
import { batchOf, refusalOf } from '../../../support/batch.js'
import { sampleOf } from '../../../support/sample.js'
import { createFakeSubject, now } from './fake-subject.js'

const twoAndARefusal = () => batchOf(tag, [sampleOf(tag), sampleOf(tag)], { refusals: [refusalOf(2)] })

it('expects an event of every accepted record, and a rejection of every refused one', async () => {
  const system = createFakeSubject({ types: [tag] })
  const batch = twoAndARefusal()
  system.decide(tag, batch, system.submit(tag, batch))
  await readSubmitted(system.subject, system.ends())
  const [expected] = [...(system.subject.types.get('tags')?.expectations.all() ?? [])]
  if (!expected) throw new Error('nothing is expected')
  expect([missingOf(expected, 'accepted'), missingOf(expected, 'refused')]).toEqual([[0, 1], [2]])
  expect(expected.isInFlight).toBe(false)
  expect(system.countsOf(tag)).toMatchObject({ batches: 1, records: 3, accepted: 2, refused: 1 })
  expect(system.found()).toEqual([])
})

it('takes the events of a batch for in flight that integrity has not committed', async () => {
  const system = createFakeSubject({ types: [tag] })
  const batch = twoAndARefusal()
  system.decide(tag, batch, system.submit(tag, batch))
  await readSubmitted(system.subject, new Map())
  const all = [...(system.subject.types.get('tags')?.expectations.all() ?? [])]
  expect(all.map(({ isInFlight }) => isInFlight)).toEqual([true])
})

it('counts what is not decided yet as waiting', async () => {
  const system = createFakeSubject({ types: [tag] })
  system.submit(tag, twoAndARefusal())
  await readSubmitted(system.subject, new Map())
  expect(system.countsOf(tag)).toMatchObject({ batches: 1, records: 3, waiting: 3, accepted: 0 })
})

it('finds what was published and Postgres knows nothing of, unless it was emptied on purpose', async () => {
  const system = createFakeSubject({ types: [tag] })
  const [first, second] = [twoAndARefusal(), twoAndARefusal()]
  const decided = system.submit(tag, first)
  system.submit(tag, second)
  await readSubmitted(system.subject, system.ends())
  expect(system.found()).toEqual([])
  system.decide(tag, first, decided)
  await readSubmitted(system.subject, system.ends())
  expect(system.found()).toMatchObject([
    ['decision_forgotten', expect.stringContaining(second.batch_id), 'Postgres knows this partition up to 1'],
  ])
})

it('finds a decided batch without a verdict, unless that may have been pruned', async () => {
  const system = createFakeSubject({ types: [tag] })
  const batch = twoAndARefusal()
  const decided = system.decide(tag, batch, system.submit(tag, batch))
  system.forget(decided)
  await readSubmitted(system.subject, system.ends())
  expect(system.found()).toMatchObject([
    ['verdict_missing', expect.stringContaining(batch.batch_id), expect.anything()],
  ])

  const { decisions } = system.subject
  const pruned = { ...system.subject, decisions: { ...decisions, prunedBefore: async () => now + 1 } }
  await readSubmitted(pruned, system.ends())
  expect(system.countsOf(tag)).toMatchObject({ forgotten: 1 })
  expect(system.found()).toHaveLength(1)
})

it('finds a verdict that counts other records than its batch has', async () => {
  const system = createFakeSubject({ types: [tag] })
  const batch = twoAndARefusal()
  system.decide(tag, batch, system.submit(tag, batch), { accepted: 1 })
  await readSubmitted(system.subject, system.ends())
  expect(system.found()).toMatchObject([
    ['verdict_disagrees', expect.stringContaining(batch.batch_id), '1 accepted and 1 refused of 3 records'],
  ])
})

it('expects nothing of a batch that repeats an earlier one', async () => {
  const system = createFakeSubject({ types: [tag] })
  const batch = twoAndARefusal()
  const first = system.submit(tag, batch)
  const again = system.submit(tag, batch)
  system.decide(tag, batch, again, { submitted_offset: first.offset })
  await readSubmitted(system.subject, system.ends())
  expect(system.countsOf(tag)).toMatchObject({ batches: 2, repeats: 1, accepted: 2 })
})

it('reads the batches of one organisation only, where one is named, and counts what cannot be decoded', async () => {
  const system = createFakeSubject({ types: [tag], org: 'acme' })
  const ours = twoAndARefusal()
  const { topic, partition } = system.submit(tag, ours)
  system.append(topic, partition, 'other', Buffer.from('garbage'))
  system.append(topic, partition, 'acme', Buffer.from('garbage'))
  await readSubmitted(system.subject, new Map())
  expect(system.countsOf(tag)).toMatchObject({ batches: 1, unreadable: 1 })
})
