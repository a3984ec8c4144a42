import type { Observed } from '../observe/observed.js'
import type { Ledger, ToldErasure } from '../workload/ledger.js'
import type { Planned } from '../workload/plan.js'
import { checkKeptForSums, withoutKept } from './check-kept-for-sums.js'
import type { Check, Finding } from './finding.js'
import { allWritesOf, createNamesErased, createVersionOf, keyOf, waitName } from './writes.js'

/** Of who was erased nothing is left, nobody keeps a copy who follows the topics, and nothing is taken any more. */
export const checkErasures: Check = (ledger, observed) => {
  const namesErased = createNamesErased(ledger)
  const refused = ledger.erasures.filter(({ afterwards }) => afterwards === 'refuse')
  const done = new Map(refused.flatMap(({ names, doneAt }) => names.map((name) => [name, doneAt] as const)))
  const late = allWritesOf(ledger).filter(
    ({ record, sentAt = 0 }) =>
      namesErased(record) &&
      Object.values(record).some((name) => sentAt > (done.get(String(name)) ?? Number.POSITIVE_INFINITY)),
  )
  return [
    ...ledger.erasures.flatMap(({ org, erasureId }): Finding[] => {
      const found = observed.erasures.find((each) => each.erasureId === erasureId)
      const about = `erasure ${erasureId} of ${org}`
      if (found?.status !== 'done') return [{ name: 'not-erased', about: `${about} is ${found?.status}` }]
      return found.left.map((place) => ({ name: 'left-of-person', about: `${about}: ${place}` }))
    }),
    ...allWritesOf(ledger)
      .filter(({ expected, codes }) => expected === 'erased' && codes !== undefined && !isErasedCode(codes))
      .map((write) => ({ name: 'wrong-verdict', about: `${write.type} ${keyOf(write)} is refused: ${write.codes}` })),
    ...late
      .filter(({ codes = [] }) => !isErasedCode(codes) && !codes.includes('unknown_field'))
      .map((write) => ({ name: 'taken-of-erased', about: `${write.type} ${keyOf(write)}, told ${write.codes}` })),
    ...ledger.erasures
      .filter(({ org, names, afterwards }) => afterwards === 'new' && !isBack(ledger, org, names))
      .map(({ org, erasureId }) => ({ name: 'not-back', about: `who is taken as new after ${erasureId} of ${org}` })),
    ...checkKeptForSums(ledger, observed),
  ]
}

/** What was there of a person before the erasure: the batches it came in, and the ids of records that have not come back. */
export const formerOf = (ledger: Ledger, { org, names }: ToldErasure): { batchIds: string[]; ids: string[] } => {
  const isOf = (record: Record<string, unknown>): boolean =>
    Object.values(record).some((value) => names.includes(String(value)))
  const writes = allWritesOf(ledger).filter((write) => write.org === org && isOf(write.record))
  // Sent while it was going on: such a record may have been taken as somebody new's.
  const former = writes.filter(({ asNew, expected }) => !asNew && expected !== 'erased')
  const back = new Set(writes.filter(({ asNew }) => asNew).map(({ id }) => id))
  const touches = ledger.interactions.filter((told) => told.org === org && !told.step.asNew && isOf(told.step.body))
  return {
    batchIds: [...new Set(former.map(({ batchId }) => batchId))],
    ids: [...former.map(({ id }) => id), ...touches.flatMap(({ interactionId }) => interactionId ?? [])].filter(
      (id) => !back.has(id),
    ),
  }
}

/** Somebody who is taken as somebody new was sent again. */
const isBack = ({ uploads }: Ledger, org: string, names: readonly string[]): boolean =>
  uploads.some(
    (each) =>
      each.org === org &&
      each.step.records.some(
        ({ record, asNew }) => asNew && Object.values(record).some((name) => names.includes(String(name))),
      ),
  )

/** What is left for all other checks: they know nothing of erasures, and of who came back only what was sent since. */
export const withoutErased = (ledger: Ledger, observed: Observed): [Ledger, Observed] => {
  if (ledger.erasures.length === 0) return [ledger, observed]
  const namesErased = createNamesErased(ledger)
  const erased = allWritesOf(ledger).filter(({ record, asNew }) => !asNew && namesErased(record))
  const waits = new Set(erased.map(({ batchId, index }) => waitName({ batch_id: batchId, index })))
  const versionOf = createVersionOf(observed.verdicts)
  const handed = new Set(erased.map((write) => `${write.type} ${keyOf(write)} ${versionOf(write)}`))
  const touches = ledger.interactions.filter(({ step }) => !step.asNew && namesErased(step.body))
  const touched = new Set(touches.map(({ org, interactionId }) => `${org}/${interactionId}`))
  // What names nobody else: what was told of it may be otherwise by now.
  const isErased = ({ record, asNew }: Planned): boolean => !asNew && namesErased(record)
  const own = ledger.uploads.filter(({ step }) => step.records.every(isErased))
  const ownBatches = new Set(own.flatMap(({ batches }) => batches.map(({ batchId }) => batchId)))
  const kept = withoutKept(ledger, observed)
  const isOthersWait = (wait: { batch_id: string; index: number }): boolean => !waits.has(waitName(wait))
  return [
    {
      ...ledger,
      uploads: ledger.uploads.filter((each) => !own.includes(each)),
      interactions: ledger.interactions.filter((each) => !touches.includes(each)),
    },
    {
      ...kept,
      rejections: observed.rejections.filter(({ codes }) => !isErasedCode(codes)),
      verdicts: observed.verdicts.filter(({ batch_id }) => !ownBatches.has(batch_id)),
      waits: observed.waits.filter(isOthersWait),
      waitingLog: observed.waitingLog.filter(isOthersWait),
      feeds: kept.feeds.filter(
        ({ org, type, id, version }) =>
          !handed.has(`${type} ${org}/${id} ${version}`) && !(type === 'interactions' && touched.has(`${org}/${id}`)),
      ),
      topics: kept.topics.filter(({ topic, value }) => {
        if (topic === 'weir.rejected') return !isErasedCode(codesIn(value))
        if (topic === 'weir.verdicts') return !ownBatches.has(String(value.batch_id))
        return (
          topic !== 'weir.waiting' || isOthersWait({ batch_id: String(value.batch_id), index: Number(value.index) })
        )
      }),
    },
  ]
}

const isErasedCode = (codes: readonly string[]): boolean => codes.join() === 'person_erased'

const codesIn = ({ problems = [] }: { problems?: unknown }): string[] =>
  (problems as { code: string }[]).map(({ code }) => code)
