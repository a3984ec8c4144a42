import { randomUUID } from 'node:crypto'
import { deserialize } from 'node:v8'
import { expect, it } from 'vitest'
import { createBatchCodec } from '#schemas/byte-path/byte-path.js'
import { tag } from '#schemas/records/tag.js'
import { toBatches } from '../../../../services/edge/batches/batches.js'
import { createToEntry } from '../../../../services/edge/batches/entries.js'
import { createCutByLane } from '../../../../services/edge/batches/lanes.js'
import { checkAccepted } from '../../../../services/operator/verify/checks/check-accepted.js'
import { checkRejected } from '../../../../services/operator/verify/checks/check-rejected.js'
import { mend } from '../../../../services/operator/verify/mend.js'
import { readSubmitted } from '../../../../services/operator/verify/read-submitted.js'
import { sampleOf } from '../../../support/sample.js'
import { sentAs } from '../../../support/sent-as.js'
import { createFakeSubject } from './fake-subject.js'

const layout = { lanes: 4, submittedPartitions: 8, acceptedPartitions: 4 }
const accepted = 'weir.accepted.tags'

/** A request of 40 tags, every fifth of them invalid, cut by lanes; twice, so that each lane's log has two batches. */
const createSystem = () => {
  const system = createFakeSubject({ types: [tag], layout })
  const ids = Array.from({ length: 40 }, () => randomUUID())
  const upload = (name: string) => {
    const toEntry = createToEntry(tag)
    const { encode, decode } = createBatchCodec(tag)
    const entries = ids.map((tag_id, n) => {
      const given = { ...sampleOf(tag, { tag_id, name }), ...(n % 5 === 0 && { alien: 1 }) }
      return toEntry(given, sentAs(given))
    })
    const { slices, ...howCut } = createCutByLane(tag)(entries, { records: 500, bytes: 524_288 }, 4)
    const facts = { orgId: 'acme', requestId: randomUUID(), bodySha256: Buffer.alloc(32), submittedAt: 0, lanes: 4 }
    return toBatches(slices, facts, howCut).map((outgoing) => {
      const batch = decode(encode(outgoing))
      return system.decide(tag, batch, system.submit(tag, batch))
    })
  }
  const check = async () => {
    await readSubmitted(system.subject, system.ends())
    const turnedBack = await checkAccepted(system.subject, system.ends(), () => true)
    await checkRejected(system.subject, system.ends())
    return turnedBack
  }
  const batches = [...upload('one'), ...upload('two')]
  const writeRows = () => {
    for (const { batch, verdict } of batches) {
      system.rows.rejections.set(batch.batch_id, verdict.refused.length)
      for (const { tag_id, index } of batch.records)
        system.rows.recent.set(`acme/${tag_id}`, verdict.submitted_offset * 8192 + index)
    }
  }
  return { ...system, batches, check, writeRows }
}

it('finds every event and every rejection of a request that was cut by lanes', async () => {
  const system = createSystem()
  expect(system.batches.length).toBe(8)
  for (const one of system.batches) {
    system.publish(one)
    system.publishRejections(one)
  }
  system.writeRows()
  expect(await system.check()).toEqual([])
  expect(system.found()).toEqual([])
  expect(system.countsOf(tag)).toMatchObject({ accepted: 64, onTopic: 64, refused: 16, onRejected: 16, keys: 32 })
})

it('mends what is missing of one lane, and a key that was turned back in another', async () => {
  const system = createSystem()
  const [first, ...others] = system.batches
  if (!first) throw new Error('there is no batch')
  for (const one of others) {
    system.publish(one)
    system.publishRejections(one)
  }
  // The older events of a lane once more, after the newer ones.
  const older = others[0]
  if (older) system.publish(older)
  const { events, ...rest } = await mend(system.subject, await system.check())
  // What was missing, and for each key whose last event is an old one by then, the newest once more.
  expect(events).toBe(2 * first.batch.records.length + (older?.batch.records.length ?? 0))
  expect(rest).toEqual({ rejections: first.batch.refusals.length, lost: [] })
  for (const { batch } of system.batches.slice(4))
    for (const { tag_id } of batch.records) {
      const versions = system.eventsOf(accepted, `acme/${tag_id}`).map(({ value }) => versionIn(value as Buffer))
      expect(versions.at(-1)).toBe(Math.max(...versions))
    }
})

const versionIn = (value: Buffer): number => (deserialize(value) as { version: number }).version
