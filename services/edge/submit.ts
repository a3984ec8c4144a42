import type { SubmittedBatch, VerdictEvent } from '#schemas/events.js'
import type { Figures } from './figures.js'
import type { Publish } from './publisher.js'
import type { Expected, Verdicts } from './verdicts.js'

/** What became of a batch, as far as we can tell by now. */
export type Outcome = { verdict: VerdictEvent } | { unknown: 'no verdict yet' | 'not published' }

/** Publishes batches of one request and waits for their verdicts: an outcome for each, in the same order. */
export type Submit = (type: string, batches: readonly SubmittedBatch[]) => Promise<Outcome[]>

export const createSubmit =
  (deps: { publish: Publish; verdicts: Verdicts; figures: Figures; now: () => number }): Submit =>
  async (type, batches) => {
    const { publish, verdicts, figures, now } = deps
    const since = now()
    const expected = batches.map((batch) => verdicts.expect(batch.batch_id))
    const abandonFrom = (first: number) => {
      for (const { abandon } of expected.slice(first)) abandon()
    }
    const outcomeOf = async ({ verdict }: Expected, i: number): Promise<Outcome> => {
      const found = await verdict
      if (!found) return { unknown: i < written ? 'no verdict yet' : 'not published' }
      figures.verdictWait.observe({ type }, (now() - since) / 1000)
      return { verdict: found }
    }

    let written = batches.length
    let failure: Error | undefined
    figures.batchesInFlight.inc(batches.length)
    // Not awaited: while a broker is away a send tries for minutes, and a client is promised an answer before that.
    publish(type, batches).then(
      (count) => {
        written = count
        abandonFrom(count)
      },
      (error: Error) => {
        failure = error
        abandonFrom(0)
      },
    )
    const outcomes = await Promise.all(expected.map(outcomeOf))
    figures.batchesInFlight.dec(batches.length)
    if (failure) throw failure
    return outcomes
  }
