import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { topicsOf } from '#schemas/derive/topics.js'
import type { RecordType } from '#schemas/record.js'
import { tag } from '#schemas/records/tag.js'
import { checkAccepted } from '../../../../../services/operator/verify/checks/check-accepted.js'
import { readSubmitted } from '../../../../../services/operator/verify/read-submitted.js'
import { batchOf } from '../../../../support/batch.js'
import { sampleOf } from '../../../../support/sample.js'
import { createFakeSubject, now } from '../fake-subject.js'

const config = topicsOf(catalogue).find(({ name }) => name === 'weir.accepted.tags')?.config ?? {}
const lag = Number(config['min.compaction.lag.ms'])
const { interaction } = catalogue

/** Two records of one batch whose events are gone from the topic; of the first one a newer event is there. */
const gone = async (type: RecordType, decided_at: number, erasedAt?: number) => {
  const system = createFakeSubject({ types: [type] })
  system.erased.at = erasedAt
  const batch = batchOf(type, [sampleOf(type), sampleOf(type)])
  system.decide(type, batch, system.submit(type, batch), { decided_at })
  const newer = batchOf(type, [sampleOf(type)])
  newer.records = newer.records.map((record) => ({ ...record, [type.id]: batch.records[0]?.[type.id] ?? '' }))
  system.publish(system.decide(type, newer, system.submit(type, newer)))
  await readSubmitted(system.subject, system.ends())
  await checkAccepted(system.subject, system.ends(), () => true)
  const missing = system.found().flatMap(([kind, where]) => (kind === 'event_missing' ? [where] : []))
  return { missing, counts: system.countsOf(type), batchId: batch.batch_id }
}

it('forgives an event that a newer one of its key has replaced, once it is old enough to be compacted away', async () => {
  const { missing, counts, batchId } = await gone(tag, now - lag - 1)
  expect(missing).toEqual([`record 1 of batch ${batchId}`])
  expect(counts.compacted).toBe(1)
})

it('forgives what an erasure had Kafka compact before its time, and nothing that came after', async () => {
  const young = now - 3_600_000
  expect((await gone(tag, young, young + 1)).counts.compacted).toBe(1)
  expect((await gone(tag, young, young)).missing).toHaveLength(2)
})

it('forgives nothing that compaction has to leave alone for now', async () => {
  const { missing, counts } = await gone(tag, now - lag + 60_000)
  expect(missing).toHaveLength(2)
  expect(counts.compacted).toBe(0)
})

it('forgives nothing on a topic that is not compacted', async () => {
  const { missing, counts } = await gone(interaction, now - 10 * lag)
  expect(missing).toHaveLength(2)
  expect(counts.compacted).toBe(0)
})
