import type { Observed } from '../observe/observed.js'
import type { Ledger } from '../workload/ledger.js'
import type { Check, Finding } from './finding.js'
import { allWritesOf, createNamesErased, createVersionOf, keyOf, waitName } from './writes.js'

/** Of who was erased nothing is left, nobody keeps a copy who follows the topics, and nothing is taken any more. */
export const checkErasures: Check = (ledger, observed) => {
  const namesErased = createNamesErased(ledger)
  const done = new Map(ledger.erasures.flatMap(({ names, doneAt }) => names.map((name) => [name, doneAt] as const)))
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
  ]
}

/** What is left for all other checks: they know nothing of erasures. */
export const withoutErased = (ledger: Ledger, observed: Observed): [Ledger, Observed] => {
  if (ledger.erasures.length === 0) return [ledger, observed]
  const namesErased = createNamesErased(ledger)
  const erased = allWritesOf(ledger).filter(({ record }) => namesErased(record))
  const waits = new Set(erased.map(({ batchId, index }) => waitName({ batch_id: batchId, index })))
  const versionOf = createVersionOf(observed.verdicts)
  const handed = new Set(erased.map((write) => `${write.type} ${keyOf(write)} ${versionOf(write)}`))
  const touches = ledger.interactions.filter(({ step }) => namesErased(step.body))
  const touched = new Set(touches.map(({ org, interactionId }) => `${org}/${interactionId}`))
  // What names nobody else: what was told of it may be otherwise by now.
  const own = ledger.uploads.filter(({ step }) => step.records.every(({ record }) => namesErased(record)))
  const ownBatches = new Set(own.flatMap(({ batches }) => batches.map(({ batchId }) => batchId)))
  const isOthersWait = (wait: { batch_id: string; index: number }): boolean => !waits.has(waitName(wait))
  return [
    {
      ...ledger,
      uploads: ledger.uploads.filter((each) => !own.includes(each)),
      interactions: ledger.interactions.filter((each) => !touches.includes(each)),
    },
    {
      ...observed,
      rejections: observed.rejections.filter(({ codes }) => !isErasedCode(codes)),
      verdicts: observed.verdicts.filter(({ batch_id }) => !ownBatches.has(batch_id)),
      waits: observed.waits.filter(isOthersWait),
      waitingLog: observed.waitingLog.filter(isOthersWait),
      feeds: observed.feeds.filter(
        ({ org, type, id, version }) =>
          !handed.has(`${type} ${org}/${id} ${version}`) && !(type === 'interactions' && touched.has(`${org}/${id}`)),
      ),
      topics: observed.topics.filter(({ topic, value }) => {
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
