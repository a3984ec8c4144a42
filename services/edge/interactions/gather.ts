import { createHash } from 'node:crypto'
import type { Log } from '#platform/health/log.js'
import type { Problem } from '#schemas/problem.js'
import { type BatchLimits, cut, toBatches } from '../batches/batches.js'
import type { Entry } from '../batches/entries.js'
import type { BatchOutcome, Submit } from '../batches/outcome.js'
import type { EdgeFigures } from '../figures.js'
import { newId } from '../http/ids.js'
import { Unavailable } from '../http/request-error.js'

/** An interaction on its way: validated, with the SHA-256 of the body that it came in. */
export type Interaction = { entry: Entry; bodySha256: Buffer }
export type InteractionOutcome = 'accepted' | 'unknown' | { problems: Problem[] }
/**
 * Collects the interactions of an organisation that arrive within a few milliseconds into one batch. Resolves once the
 * verdict is known or was given up on; rejects where nothing can be sent at the moment.
 */
export type Gather = (orgId: string, interaction: Interaction) => Promise<InteractionOutcome>

type Waiting = Interaction & {
  size: number
  resolve: (outcome: InteractionOutcome) => void
  reject: (error: Error) => void
}

export const createGather = (deps: {
  type: string
  submit: Submit
  batchLimits: BatchLimits
  /** Calls `send` when it is time to send what was gathered. */
  sendLater: (send: () => void) => void
  figures: EdgeFigures
  now: () => number
  log: Log
}): Gather => {
  const gathered = new Map<string, Waiting[]>()

  const send = async (orgId: string, waiting: Waiting[]): Promise<void> => {
    deps.figures.gathered.observe(waiting.length)
    const [batch] = toBatches([waiting.map(({ entry }) => entry)], {
      orgId,
      requestId: newId(),
      bodySha256: hashOf(waiting),
      submittedAt: deps.now(),
    })
    const [outcome] = batch ? await deps.submit(deps.type, [batch]) : []
    if (outcome) deps.figures.countRecords(deps.type, outcome, waiting.length)
    const outcomeAt = outcomesOf(outcome)
    for (const [index, { resolve }] of waiting.entries()) resolve(outcomeAt(index))
  }

  const sendGathered = (orgId: string): void => {
    const waiting = gathered.get(orgId) ?? []
    gathered.delete(orgId)
    for (const slice of cut(waiting, deps.batchLimits)) {
      send(orgId, slice).catch((error) => {
        deps.log.error({ err: error, interactions: slice.length }, 'interactions not submitted')
        for (const { entry, resolve, reject } of slice) {
          // An interaction that the edge itself refused is answered already: nobody waits for it, and nobody would
          // catch this.
          if (error instanceof Unavailable && !('refusal' in entry)) reject(error)
          else resolve('unknown')
        }
      })
    }
  }

  return (orgId, interaction) =>
    new Promise((resolve, reject) => {
      const waiting = gathered.get(orgId) ?? []
      waiting.push({ ...interaction, size: interaction.entry.size, resolve, reject })
      if (waiting.length === 1) {
        gathered.set(orgId, waiting)
        deps.sendLater(() => sendGathered(orgId))
      }
      if (waiting.length === deps.batchLimits.records) sendGathered(orgId)
    })
}

const hashOf = (waiting: readonly Waiting[]): Buffer => {
  const hash = createHash('sha256')
  for (const { bodySha256 } of waiting) hash.update(bodySha256)
  return hash.digest()
}

const outcomesOf = (outcome: BatchOutcome | undefined): ((index: number) => InteractionOutcome) => {
  if (!outcome || 'unknown' in outcome) return () => 'unknown'
  const refused = new Map(outcome.verdict.refused.map(({ index, problems }) => [index, { problems }]))
  return (index) => refused.get(index) ?? 'accepted'
}
