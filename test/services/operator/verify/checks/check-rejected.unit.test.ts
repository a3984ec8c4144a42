import { randomUUID } from 'node:crypto'
import { serialize } from 'node:v8'
import { describe, expect, it } from 'vitest'
import { partitionOf } from '#platform/kafka/partitions.js'
import { tag } from '#schemas/records/tag.js'
import { checkRejected } from '../../../../../services/operator/verify/checks/check-rejected.js'
import { readSubmitted } from '../../../../../services/operator/verify/read-submitted.js'
import { batchOf, refusalOf } from '../../../../support/batch.js'
import { sampleOf } from '../../../../support/sample.js'
import { createFakeSubject } from '../fake-subject.js'

/** One batch, decided, with a tag that was accepted and two records that were refused. */
const oneBatch = (options: { org?: string } = {}) => {
  const system = createFakeSubject({ types: [tag], ...options })
  const batch = batchOf(tag, [sampleOf(tag)], { refusals: [refusalOf(1), refusalOf(2)] })
  const decided = system.decide(tag, batch, system.submit(tag, batch))
  const check = async ({ published = system.ends(), written = system.ends() } = {}) => {
    await readSubmitted(system.subject, published)
    await checkRejected(system.subject, written)
  }
  return { ...system, decided, batchId: batch.batch_id, check }
}

it('finds nothing where every refused record has its rejection and its row', async () => {
  const system = oneBatch()
  system.publishRejections(system.decided)
  system.rows.rejections.set(system.batchId, 2)
  await system.check()
  expect(system.found()).toEqual([])
  expect(system.countsOf(tag)).toMatchObject({ refused: 2, onRejected: 2, inFlight: 0 })
})

it('counts a rejection once that is there twice', async () => {
  const system = oneBatch()
  system.publishRejections(system.decided)
  system.publishRejections(system.decided)
  system.rows.rejections.set(system.batchId, 2)
  await system.check()
  expect(system.found()).toEqual([])
  expect(system.countsOf(tag)).toMatchObject({ onRejected: 2, inFlight: 0 })
})

describe('a missing rejection', () => {
  it('is found, record by record', async () => {
    const system = oneBatch()
    await system.check()
    expect(system.found()).toEqual(
      [1, 2].map((index) => [
        'rejection_missing',
        `record ${index} of batch ${system.batchId}`,
        'not on weir.rejected',
      ]),
    )
  })

  it('is on its way while integrity has not committed its batch', async () => {
    const system = oneBatch()
    await system.check({ published: new Map() })
    expect(system.found()).toEqual([])
    expect(system.countsOf(tag)).toMatchObject({ inFlight: 2 })
  })
})

it('finds a rejection of a record that was accepted', async () => {
  const system = oneBatch()
  system.publishRejections(system.decided)
  system.rows.rejections.set(system.batchId, 2)
  const alien = { org_id: 'acme', batch_id: system.batchId, version: 0, type: 'tags' }
  const offset = system.append('weir.rejected', 0, 'acme/alien', serialize(alien))
  await system.check()
  const found = `version 0 of batch ${system.batchId}, which was not refused`
  expect(system.found()).toEqual([['rejection_unfounded', `weir.rejected/0@${offset}`, found]])
})

it('passes over other types, other organisations and messages that cannot be decoded', async () => {
  const system = oneBatch({ org: 'acme' })
  system.publishRejections(system.decided)
  system.rows.rejections.set(system.batchId, 2)
  // An organisation whose batches lie in the same partition: its version 0 is a place of which something is expected.
  const other = Array.from({ length: 100 }, (_, n) => `other-${n}`).find(
    (org) => partitionOf(org, 4) === partitionOf('acme', 4),
  )
  for (const over of [{ type: 'shops' }, { type: 'tags', org_id: other }]) {
    const head = { org_id: 'acme', batch_id: randomUUID(), version: 0, ...over }
    system.append('weir.rejected', 0, 'acme/x', serialize(head))
  }
  system.append('weir.rejected', 0, null, Buffer.from('garbage'))
  await system.check()
  expect(system.found()).toEqual([])
})

describe('a rejection on the topic', () => {
  it('is missed in ClickHouse once the sink has written all of its batch', async () => {
    const system = oneBatch()
    system.publishRejections(system.decided)
    system.rows.rejections.set(system.batchId, 1)
    await system.check()
    expect(system.found()).toEqual([['rejection_row_missing', `batch ${system.batchId}`, '1 of 2 rejections']])
  })

  it('is on its way to ClickHouse while the sink has not', async () => {
    const system = oneBatch()
    system.publishRejections(system.decided)
    await system.check({ written: new Map() })
    expect(system.found()).toEqual([])
    expect(system.countsOf(tag)).toMatchObject({ onRejected: 2, inFlight: 2 })
  })
})
