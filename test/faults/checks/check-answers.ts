import type { Check, Finding } from './finding.js'
import { writesOf } from './writes.js'

/** Clients got only answers that they can use, always the same about the same batch, and the ones that the rules give. */
export const checkAnswers: Check = (ledger) => [
  ...ledger.surprises.map((about) => ({ name: 'surprising-answer', about })),
  ...[...ledger.tellings].flatMap(([batchId, told]): Finding[] =>
    told.size > 1 ? [{ name: 'told-differently', about: `batch ${batchId}: ${[...told].join(' and ')}` }] : [],
  ),
  ...writesOf(ledger).flatMap(({ org, type, id, index, expected, codes, waited }): Finding[] => {
    const told = waited ? 'waits' : codes === undefined ? 'accepted' : codes[0]
    const isRight =
      expected === 'invalid'
        ? codes !== undefined
        : // Where its time was over before it was decided, it is refused at once.
          told === expected || (expected === 'expires' && (told === 'waits' || told === 'unknown_reference'))
    const about = `${type} ${org}/${id} at index ${index}, planned as ${expected}: ${told}`
    return isRight ? [] : [{ name: 'wrong-verdict', about }]
  }),
  ...ledger.interactions.flatMap(({ step, outcome }): Finding[] => {
    const wanted = step.expected === 'accepted' || step.expected === 'waits' ? step.expected : 'refused'
    const isRight = outcome === 'doubtful' || outcome === wanted
    const about = `interaction ${step.marker} was to be ${step.expected}, and was ${outcome}`
    return isRight ? [] : [{ name: 'wrong-verdict', about }]
  }),
]
