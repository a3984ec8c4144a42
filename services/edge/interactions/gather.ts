import { createHash } from 'node:crypto'
import { newId } from '#http/ids.js'
import { Unavailable } from '#http/request-error.js'
import type { Log } from '#platform/health/log.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import type { Layout } from '#schemas/derive/topics.js'
import type { KeyedRequest, Waiting } from '#schemas/events.js'
import type { Problem } from '#schemas/problem.js'
import { gatheredRequestId, interactionRequestId } from '#schemas/uuid.js'
import { type BatchLimits, toBatches } from '../batches/batches.js'
import type { Entry } from '../batches/entries.js'
import type { BatchOutcome, Submit } from '../batches/outcome.js'
import type { EdgeFigures } from '../figures.js'
import { type Lag, lagging } from '../limits/lag.js'

/** An interaction on its way. The keyed ids are derived from its Idempotency-Key; null without one, or where it is refused. */
export type Interaction = {
  entry: Entry
  bodySha256: Buffer
  keyedRequestId: string | null
  keyedId: string | null
  /** The API key that it was sent with; null where that was none, or is not known. */
  keyId: string | null
  /** How many milliseconds it waits for what it refers to; without it, it is refused at once. */
  wait?: number | undefined
}
export type InteractionOutcome = 'accepted' | 'unknown' | { problems: Problem[] } | { waiting: Waiting }
/** `outcome` resolves once the verdict is known or was given up on; it rejects where nothing can be sent at the moment. */
export type Gathered = { requestId: string; outcome: Promise<InteractionOutcome> }
/**
 * Collects the interactions of an organisation that arrive within a few milliseconds into one batch; those with an Idempotency-Key
 * into one for each partition, since the same interaction has to meet itself there; and those that may wait into one for each time, and
 * those of each API key into one, since a batch names one. Each has at once the request id by which it will be known.
 */
export type Gather = (orgId: string, interaction: Interaction) => Gathered

type Gathering = Interaction & {
  resolve: (outcome: InteractionOutcome) => void
  reject: (error: Error) => void
}

/** A batch that is being filled. */
type Open = {
  requestId: string
  group: string
  generation: number | undefined
  lane: number | undefined
  wait: number | undefined
  keyId: string | null
  waiting: Gathering[]
  bytes: number
}

export const createGather = (deps: {
  type: string
  submit: Submit
  /** How wide the system is; throws while that is not known yet. */
  layout: () => Layout
  lag: Pick<Lag, 'isBehind' | 'wayAround'>
  batchLimits: BatchLimits
  /** Calls `send` when it is time. `isAlone`: no batch is under way, so that waiting for others would only take time. */
  sendLater: (send: () => void, isAlone: boolean) => void
  figures: EdgeFigures
  now: () => number
  log: Log
}): Gather => {
  const { batchLimits, log } = deps
  /** By what an interaction may be gathered with. */
  const openOf = new Map<string, Open>()
  /** How many batches are on their way, likewise. */
  const underWay = new Map<string, number>()
  const countUnderWay = (group: string, more: number): void => {
    const count = (underWay.get(group) ?? 0) + more
    if (count > 0) underWay.set(group, count)
    else underWay.delete(group)
  }

  const submit = async (orgId: string, { requestId, generation, lane, wait, keyId, waiting }: Open): Promise<void> => {
    deps.figures.gathered.observe(waiting.length)
    const batches = toBatches([waiting.map(({ entry }) => entry)], {
      orgId,
      requestId,
      bodySha256: hashOf(waiting),
      submittedAt: deps.now(),
      generation,
      wait,
      keyId,
    }).map(({ lane: _, ...batch }) => ({
      ...batch,
      ...laneAs(lane ?? deps.lag.wayAround(deps.type, batch)),
      gathered: true,
      keyed_requests: keyedRequestsOf(waiting),
    }))
    const [outcome] = await deps.submit(deps.type, batches)
    if (outcome) deps.figures.countRecords(deps.type, outcome, waiting.length)
    const outcomeAt = outcomesOf(outcome)
    for (const [index, { resolve }] of waiting.entries()) resolve(outcomeAt(index))
  }

  const send = (orgId: string, open: Open): void => {
    const { group } = open
    // Sent before its time was over, because it was full.
    if (openOf.get(group) !== open) return
    openOf.delete(group)
    countUnderWay(group, 1)
    submit(orgId, open)
      .catch((error) => {
        log.error({ err: error, interactions: open.waiting.length }, 'interactions not submitted')
        for (const { entry, resolve, reject } of open.waiting) {
          // An interaction that the edge itself refused is answered already: a rejection would have no one to catch it.
          if (error instanceof Unavailable && !('refusal' in entry)) reject(error)
          else resolve('unknown')
        }
      })
      .finally(() => countUnderWay(group, -1))
  }

  /** The batch that has room for an interaction of this size. */
  const openFor = (orgId: string, { generation, lane }: LaneOfOne, interaction: Interaction): Open => {
    const { wait, keyId } = interaction
    const { size } = interaction.entry
    const group = groupOf(orgId, generation, lane, wait, keyId)
    const open = openOf.get(group)
    if (open && open.bytes + size <= batchLimits.bytes) return open
    if (open) send(orgId, open)
    const requestId = gatheredRequestId(newId())
    const next: Open = { requestId, group, generation, lane, wait, keyId, waiting: [], bytes: 0 }
    openOf.set(group, next)
    deps.sendLater(() => send(orgId, next), !underWay.has(group))
    return next
  }

  const laneFor = ({ keyedId }: Interaction): LaneOfOne => {
    const { generation, submittedPartitions } = deps.layout()
    return { generation, lane: keyedId === null ? undefined : partitionOf(keyedId, submittedPartitions) }
  }

  return (orgId, interaction) => {
    const place = laneFor(interaction)
    const { lane } = place
    // One with a key has its place, and cannot be led around it.
    const { keyedRequestId } = interaction
    const isKeyed = lane !== undefined && keyedRequestId !== null
    if (isKeyed && deps.lag.isBehind(deps.type, { org_id: orgId, batch_id: '', lane }))
      return { requestId: keyedRequestId, outcome: Promise.reject(new Unavailable(lagging.message)) }
    const open = openFor(orgId, place, interaction)
    const requestId = keyedRequestId ?? interactionRequestId(open.requestId, open.waiting.length)
    const outcome = new Promise<InteractionOutcome>((resolve, reject) => {
      open.waiting.push({ ...interaction, resolve, reject })
    })
    open.bytes += interaction.entry.size
    if (open.waiting.length === batchLimits.records) send(orgId, open)
    return { requestId, outcome }
  }
}

/** Where an interaction goes; `lane` only for one that has to meet itself there. */
type LaneOfOne = { generation: number | undefined; lane: number | undefined }

/** No organisation's name holds a slash. */
const groupOf = (orgId: string, ...parts: (number | string | null | undefined)[]): string =>
  [orgId, ...parts.map((part) => part ?? '')].join('/')

const laneAs = (lane: number | undefined) => (lane === undefined ? {} : { lane })

const hashOf = (waiting: readonly Gathering[]): Buffer => {
  const hash = createHash('sha256')
  for (const { bodySha256 } of waiting) hash.update(bodySha256)
  return hash.digest()
}

const keyedRequestsOf = (waiting: readonly Gathering[]): KeyedRequest[] =>
  waiting.flatMap(({ keyedRequestId }, index) =>
    keyedRequestId === null ? [] : [{ index, request_id: keyedRequestId }],
  )

const outcomesOf = (outcome: BatchOutcome | undefined): ((index: number) => InteractionOutcome) => {
  if (!outcome || 'unknown' in outcome) return () => 'unknown'
  const refused = new Map(outcome.verdict.refused.map(({ index, problems }) => [index, { problems }]))
  const waits = new Map((outcome.verdict.waiting ?? []).map((waiting) => [waiting.index, { waiting }]))
  return (index) => refused.get(index) ?? waits.get(index) ?? 'accepted'
}
