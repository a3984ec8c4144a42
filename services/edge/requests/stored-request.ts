import { batchIdsOf, type NotedRequest } from '#ledger/requests.js'
import { isGathered, placeOfInteraction } from '#schemas/uuid.js'
import type { BatchResult } from '../batches/outcome.js'
import { countOf, type PresentVerdict } from './present.js'
import type { KnownRequest, VerdictStore } from './verdict-store.js'

/** What is known of a request, or of an interaction: that one's verdict is a part of the verdict on its gathered batch. */
export const findStored = async (
  store: Pick<VerdictStore, 'ofRequest' | 'ofKeyedRequest'>,
  interactionType: string,
  orgId: string,
  requestId: string,
): Promise<KnownRequest> => {
  const own = await store.ofRequest(orgId, requestId)
  const { gatheredId, index } = placeOfInteraction(requestId)
  const isKnown = own.verdicts.length > 0 || own.noted !== undefined
  const { verdicts } = isKnown ? own : await store.ofRequest(orgId, gatheredId)
  const gathered = verdicts.filter(
    ({ request_id, type }) => request_id === gatheredId && isGathered(gatheredId) && type === interactionType,
  )
  if (gathered.length > 0)
    return {
      verdicts: gathered.filter((one) => index < countOf(one)).map((one) => verdictAt(one, index)),
      noted: undefined,
    }
  const keyed = isKnown ? undefined : await store.ofKeyedRequest(orgId, requestId)
  return keyed ? { verdicts: [verdictAt(keyed.verdict, keyed.place)], noted: undefined } : own
}

/** The verdict on the record at this place. */
const verdictAt = (verdict: PresentVerdict, place: number): PresentVerdict => {
  const at = <T extends { index: number }>(records: readonly T[] = []): T[] =>
    records.filter(({ index }) => index === place).map((one) => ({ ...one, index: 0 }))
  const one = {
    ...verdict,
    accepted: 0,
    refused: at(verdict.refused),
    waiting: at(verdict.waiting),
    waited: at(verdict.waited),
  }
  // Whatever is nothing else is accepted.
  return countOf(one) === 0 ? { ...one, accepted: 1 } : one
}

/** After this long a request is no longer being published: kafkajs gives up on a send after some 5 minutes. */
export const publishedWithin = 600_000

/** What became of a request's batches. Cut anew after BATCH_RECORDS changed, two cuts may be known: the more decided counts. */
export const resultsOfStored = ({ verdicts, noted }: KnownRequest, now: number): BatchResult[] => {
  const ofCuts = cutsOf(verdicts).map((cut) => resultsOfCut(cut, verdicts))
  const cuts = [...(noted ? [resultsOfNoted(noted, verdicts, now)] : []), ...ofCuts]
  const [fullest = []] = cuts.sort((a, b) => undecidedIn(a) - undecidedIn(b))
  return fullest
}

export const isDecided = (results: readonly BatchResult[]): boolean => results.length > 0 && undecidedIn(results) === 0

/** Batches that Kafka has will be decided. Of the others nothing is known once publishing has ended. */
const resultsOfNoted = (noted: NotedRequest, verdicts: readonly PresentVerdict[], now: number): BatchResult[] => {
  const found = new Map(verdicts.map((verdict) => [verdict.batch_id, verdict]))
  const isPublishing = noted.written === null && now - noted.submittedAt < publishedWithin
  return batchIdsOf(noted).map((batchId, i) => {
    const verdict = found.get(batchId)
    const undecided = isPublishing || i < (noted.written ?? 0) ? 'pending' : ({ unknown: 'not published' } as const)
    return { batch: i + 1, batchId, outcome: verdict ? { verdict } : undecided }
  })
}

// A request that was sent again after the lanes were changed begins with the batches that were decided before, as they were cut then.
const resultsOfCut = (cut: readonly PresentVerdict[], all: readonly PresentVerdict[]): BatchResult[] => {
  const first = Math.min(...cut.map(({ batch }) => batch))
  const before = all.filter((verdict) => !cut.includes(verdict))
  const found = new Map([
    ...(before.length === first - 1 ? before.map((verdict, i) => [i + 1, verdict] as const) : []),
    ...cut.map((verdict) => [verdict.batch, verdict] as const),
  ])
  return Array.from({ length: cut[0]?.batches ?? 0 }, (_, i) => {
    const verdict = found.get(i + 1)
    return { batch: i + 1, batchId: verdict?.batch_id ?? null, outcome: verdict ? { verdict } : 'pending' }
  })
}

/** Verdicts that say the same number of batches belong to the same cut. */
const cutsOf = (verdicts: readonly PresentVerdict[]): PresentVerdict[][] =>
  [...new Set(verdicts.map(({ batches }) => batches))].map((count) =>
    verdicts.filter(({ batches }) => batches === count),
  )

const undecidedIn = (results: readonly BatchResult[]): number =>
  results.filter(({ outcome }) => outcome === 'pending' || 'unknown' in outcome).length
