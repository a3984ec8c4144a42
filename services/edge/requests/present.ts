import type { Wait } from '#ledger/waiting/look-up.js'
import type { VerdictEvent, WaitState } from '#schemas/events.js'

/** A record that waited, and what came of it; `index` is its place in the batch. */
export type Waited = { index: number; id: string; state: Exclude<WaitState, 'waiting'>; at: number }

/** A verdict as things stand now: what waited when it was given may have ended to. */
export type PresentVerdict = VerdictEvent & { waited?: Waited[] }

/** Whether something waited when this verdict was given. */
export const hasWaits = ({ waiting }: VerdictEvent): boolean => (waiting?.length ?? 0) > 0

/** A verdict with what became of the records that waited; where nothing newer is known, as the verdict itself says it. */
export const presentOf = (verdict: VerdictEvent, waits: readonly Wait[]): PresentVerdict => {
  if (!hasWaits(verdict)) return verdict
  const waitAt = new Map(
    waits.filter(({ batchId }) => batchId === verdict.batch_id).map((wait): [number, Wait] => [wait.place, wait]),
  )
  const present = { ...verdict, refused: [...verdict.refused], waiting: [] as typeof verdict.waiting & object }
  const waited: Waited[] = []
  for (const begun of verdict.waiting ?? []) {
    const { index, id } = begun
    const wait = waitAt.get(index)
    if (wait?.state === 'waiting') present.waiting.push({ index, id, for: wait.missing, until: wait.until.getTime() })
    else if (wait) {
      waited.push({ index, id, state: wait.state, at: wait.changedAt.getTime() })
      if (wait.state === 'accepted') present.accepted += 1
      if (wait.state === 'refused') present.refused.push({ index, id, problems: wait.problems ?? [] })
    } else present.waiting.push(begun)
  }
  present.refused.sort((a, b) => a.index - b.index)
  return { ...present, waited }
}

/** How many records a verdict is about. */
export const countOf = (verdict: PresentVerdict): number =>
  verdict.accepted + verdict.refused.length + (verdict.waiting?.length ?? 0) + endedOtherwise(verdict).length

/** Those that waited and were neither accepted nor refused. */
export const endedOtherwise = ({ waited = [] }: PresentVerdict): Waited[] =>
  waited.filter(({ state }) => state === 'superseded' || state === 'cancelled')
