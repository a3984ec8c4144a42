import type { OutgoingBatch } from '#schemas/byte-path/byte-path.js'
import type { BatchOutcome, Submit } from '../batches/outcome.js'
import type { EdgeFigures } from '../figures.js'
import type { PublishBatches } from './publisher.js'
import type { Expected, Verdicts } from './verdicts.js'

export const createSubmit =
  (deps: {
    publish: PublishBatches
    /** Milliseconds within which the batches are written, or never: less than verdicts are waited for. */
    publishWithin: number
    verdicts: Verdicts
    /** A name for the partition that a batch goes to. */
    placeOf: (type: string, batch: OutgoingBatch) => string
    /** Counts a batch against what may be in flight, until the function that it returns is called. */
    count: (batch: OutgoingBatch) => () => void
    figures: EdgeFigures
    now: () => number
  }): Submit =>
  async (type, batches, { patience, onWritten, traceparent } = {}) => {
    const { publish, verdicts, figures, now } = deps
    const since = now()
    const expected = batches.map((batch) => verdicts.expect(batch, deps.placeOf(type, batch), deps.count(batch)))
    const abandonFrom = (first: number) => {
      for (const { abandon } of expected.slice(first)) abandon()
    }
    const leaveAll = () => {
      for (const { leave } of expected) leave()
    }
    const outcomeOf = async ({ verdict }: Expected, i: number): Promise<BatchOutcome> => {
      const found = await verdict
      if (!found) return { unknown: i < written ? 'no verdict yet' : 'not published' }
      figures.verdictWait.observe({ type }, (now() - since) / 1000)
      return { verdict: found }
    }

    let written = 0
    let failure: Error | undefined
    let leaving: NodeJS.Timeout | undefined
    let isOver = false
    const settle = (count: number) => {
      written = count
      onWritten?.(count)
      abandonFrom(count)
      if (patience === undefined || isOver) return
      leaving = setTimeout(leaveAll, Math.max(0, since + patience - now()))
    }
    figures.batchesInFlight.inc(batches.length)
    const publishing = publish(type, batches, deps.publishWithin, traceparent).then(settle, (error: Error) => {
      failure = error
      settle(0)
    })
    const outcomes = await Promise.all(expected.map(outcomeOf))
    isOver = true
    // Answered only when it is certain what is written: after "unknown" the client may send something newer.
    await publishing
    clearTimeout(leaving)
    figures.batchesInFlight.dec(batches.length)
    if (failure) throw failure
    return outcomes
  }
