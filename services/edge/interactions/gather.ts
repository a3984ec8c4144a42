import { createHash } from 'node:crypto'
import type { Log } from '#platform/health/log.js'
import { laneOf } from '#platform/kafka/partitions.js'
import { createIdOf } from '#schemas/derive/submitted/batch-bytes.js'
import type { Layout } from '#schemas/derive/topics.js'
import type { KeyedRequest } from '#schemas/events.js'
import type { Problem } from '#schemas/problem.js'
import type { RecordType } from '#schemas/record.js'
import { gatheredRequestId, interactionRequestId } from '#schemas/uuid.js'
import { type BatchLimits, toBatches } from '../batches/batches.js'
import type { Entry } from '../batches/entries.js'
import type { BatchOutcome, Submit } from '../batches/outcome.js'
import type { EdgeFigures } from '../figures.js'
import { newId } from '../http/ids.js'
import { Unavailable } from '../http/request-error.js'

/**
 * An interaction on its way: validated, with the SHA-256 of the body that it came in, and the request id that is derived from
 * its Idempotency-Key; null where it came without one.
 */
export type Interaction = { entry: Entry; bodySha256: Buffer; keyedRequestId: string | null }
export type InteractionOutcome = 'accepted' | 'unknown' | { problems: Problem[] }
/** `outcome` resolves once the verdict is known or was given up on; it rejects where nothing can be sent at the moment. */
export type Gathered = { requestId: string; outcome: Promise<InteractionOutcome> }
/**
 * Collects the interactions of an organisation that arrive within a few milliseconds into one batch; those with an Idempotency-Key
 * into one for each partition, since the same interaction has to meet itself there. Each has at once the request id by which it will
 * be known.
 */
export type Gather = (orgId: string, interaction: Interaction) => Gathered

type Waiting = Interaction & {
  resolve: (outcome: InteractionOutcome) => void
  reject: (error: Error) => void
}

/** A batch that is being filled. */
type Open = { requestId: string; waiting: Waiting[]; bytes: number }

export const createGather = (deps: {
  type: RecordType
  submit: Submit
  /** How wide the system is; throws while that is not known yet. */
  layout: () => Layout
  batchLimits: BatchLimits
  /** Calls `send` when it is time to send what was gathered. */
  sendLater: (send: () => void) => void
  figures: EdgeFigures
  now: () => number
  log: Log
}): Gather => {
  const { batchLimits, log } = deps
  const idOf = createIdOf(deps.type)
  /** By what an interaction may be gathered with. */
  const openOf = new Map<string, Open>()

  const submit = async (orgId: string, { requestId, waiting }: Open): Promise<void> => {
    deps.figures.gathered.observe(waiting.length)
    const batches = toBatches([waiting.map(({ entry }) => entry)], {
      orgId,
      requestId,
      bodySha256: hashOf(waiting),
      submittedAt: deps.now(),
    }).map((batch) => ({ ...batch, gathered: true, keyed_requests: keyedRequestsOf(waiting) }))
    const [outcome] = await deps.submit(deps.type.type, batches)
    if (outcome) deps.figures.countRecords(deps.type.type, outcome, waiting.length)
    const outcomeAt = outcomesOf(outcome)
    for (const [index, { resolve }] of waiting.entries()) resolve(outcomeAt(index))
  }

  const send = (orgId: string, group: string, open: Open): void => {
    // Sent before its time was over, because it was full.
    if (openOf.get(group) !== open) return
    openOf.delete(group)
    submit(orgId, open).catch((error) => {
      log.error({ err: error, interactions: open.waiting.length }, 'interactions not submitted')
      for (const { entry, resolve, reject } of open.waiting) {
        // An interaction that the edge itself refused is answered already: nobody waits for it, and nobody would catch
        // this.
        if (error instanceof Unavailable && !('refusal' in entry)) reject(error)
        else resolve('unknown')
      }
    })
  }

  /** The batch that has room for an interaction of this size. */
  const openFor = (orgId: string, group: string, size: number): Open => {
    const open = openOf.get(group)
    if (open && open.bytes + size <= batchLimits.bytes) return open
    if (open) send(orgId, group, open)
    const next: Open = { requestId: gatheredRequestId(newId()), waiting: [], bytes: 0 }
    openOf.set(group, next)
    deps.sendLater(() => send(orgId, group, next))
    return next
  }

  /** No organisation's name holds a slash. */
  const groupOf = (orgId: string, { entry }: Interaction): string => {
    if ('refusal' in entry || entry.keyedSha256 === null) return orgId
    return `${orgId}/${laneOf(idOf(entry), deps.layout().submittedPartitions)}`
  }

  return (orgId, interaction) => {
    const group = groupOf(orgId, interaction)
    const open = openFor(orgId, group, interaction.entry.size)
    const requestId = interaction.keyedRequestId ?? interactionRequestId(open.requestId, open.waiting.length)
    const outcome = new Promise<InteractionOutcome>((resolve, reject) => {
      open.waiting.push({ ...interaction, resolve, reject })
    })
    open.bytes += interaction.entry.size
    if (open.waiting.length === batchLimits.records) send(orgId, group, open)
    return { requestId, outcome }
  }
}

const hashOf = (waiting: readonly Waiting[]): Buffer => {
  const hash = createHash('sha256')
  for (const { bodySha256 } of waiting) hash.update(bodySha256)
  return hash.digest()
}

const keyedRequestsOf = (waiting: readonly Waiting[]): KeyedRequest[] =>
  waiting.flatMap(({ keyedRequestId }, index) =>
    keyedRequestId === null ? [] : [{ index, request_id: keyedRequestId }],
  )

const outcomesOf = (outcome: BatchOutcome | undefined): ((index: number) => InteractionOutcome) => {
  if (!outcome || 'unknown' in outcome) return () => 'unknown'
  const refused = new Map(outcome.verdict.refused.map(({ index, problems }) => [index, { problems }]))
  return (index) => refused.get(index) ?? 'accepted'
}
