import { beforeEach, describe, expect, it } from 'vitest'
import type { OutgoingBatch } from '#schemas/byte-path/byte-path.js'
import type { SubmittedRecord } from '#schemas/events.js'
import type { Problem } from '#schemas/problem.js'
import type { RecordType } from '#schemas/record.js'
import type { Submit } from '../../../../services/edge/batches/outcome.js'
import { batchOf, outgoing, refusalOf } from '../../../support/batch.js'
import { eventually } from '../../../support/eventually.js'
import { sampleOf } from '../../../support/sample.js'

/** What happens to batches on their way, as a test wants it. */
export type SubmitWorld = {
  /** What integrity finds wrong with a record. */
  problemsOf: (record: SubmittedRecord) => Problem[]
  /** Whether integrity gives verdicts at all. */
  isDeciding: boolean
  /** The number of the one batch that Kafka does not take. */
  lost: number | undefined
}

export type SubmitHarness = { submit: Submit; type: RecordType; world: SubmitWorld }

/** What the edge relies on, of submitting through Kafka and of the fake alike. */
export const submitContract = (open: () => Promise<SubmitHarness> | SubmitHarness): void => {
  describe('submitting', () => {
    let harness: SubmitHarness
    beforeEach(async () => {
      harness = await open()
      Object.assign(harness.world, { problemsOf: () => [], isDeciding: true, lost: undefined } satisfies SubmitWorld)
    })

    /** So large that each goes to Kafka by itself. */
    const largeBatches = (count: number): OutgoingBatch[] =>
      Array.from({ length: count }, (_, i) =>
        outgoing(
          harness.type,
          batchOf(harness.type, [sampleOf(harness.type), sampleOf(harness.type)], {
            batch: i + 1,
            batches: count,
            first_index: 3 * i,
            refusals: [{ ...refusalOf(2, 'x'), record: 'x'.repeat(600 * 1024) }],
          }),
        ),
      )

    it("gives each batch's verdict, in the order of the batches", async () => {
      const batches = largeBatches(3)
      const outcomes = await harness.submit(harness.type.type, batches)
      expect(outcomes).toEqual(
        batches.map(({ org_id, request_id, batch_id, batch, batches: count, first_index, body_sha256 }) => ({
          verdict: {
            org_id,
            request_id,
            batch_id,
            type: harness.type.type,
            batch,
            batches: count,
            first_index,
            body_sha256,
            decided_at: expect.any(Number),
            accepted: 2,
            refused: [{ index: 2, id: 'x', problems: refusalOf(2).problems }],
            waiting: [],
          },
        })),
      )
    })

    it('tells of the records that integrity refuses, among those that the edge refused', async () => {
      const unknown: Problem = { field: 'shop_id', code: 'unknown_reference', message: 'not known' }
      harness.world.problemsOf = ({ index }) => (index === 1 ? [unknown] : [])
      const [outcome] = await harness.submit(harness.type.type, largeBatches(1))
      expect(outcome).toMatchObject({
        verdict: { accepted: 1, refused: [{ index: 1, problems: [unknown] }, { index: 2 }] },
      })
    })

    it('says once how many batches are written', async () => {
      const written: number[] = []
      await harness.submit(harness.type.type, largeBatches(3), { onWritten: (count) => written.push(count) })
      await eventually(() => expect(written).toEqual([3]))
    })

    it('does not wait for verdicts longer than it is asked to', async () => {
      harness.world.isDeciding = false
      const written: number[] = []
      const options = { patience: 0, onWritten: (count: number) => written.push(count) }
      const outcomes = await harness.submit(harness.type.type, largeBatches(2), options)
      expect(outcomes).toEqual([{ unknown: 'no verdict yet' }, { unknown: 'no verdict yet' }])
      expect(written).toEqual([2])
    })

    it('publishes nothing after a batch that Kafka did not take', async () => {
      harness.world.lost = 2
      const written: number[] = []
      const outcomes = await harness.submit(harness.type.type, largeBatches(3), {
        onWritten: (count) => written.push(count),
      })
      expect(outcomes).toMatchObject([
        { verdict: { batch: 1 } },
        { unknown: 'not published' },
        { unknown: 'not published' },
      ])
      expect(written).toEqual([1])
    })

    it('gives two requests that submit the same batch the same verdict', async () => {
      const batches = largeBatches(1)
      const [one, other] = await Promise.all([
        harness.submit(harness.type.type, batches),
        harness.submit(harness.type.type, batches),
      ])
      expect(one).toMatchObject([{ verdict: { batch_id: batches[0]?.batch_id } }])
      expect(other).toEqual(one)
    })

    it('takes no batches at all', async () => {
      const written: number[] = []
      expect(await harness.submit(harness.type.type, [], { onWritten: (count) => written.push(count) })).toEqual([])
      await eventually(() => expect(written).toEqual([0]))
    })
  })
}
