import type { Check, Finding } from './finding.js'
import { groupBy, inVainCodes, keyOf, type Write, waitName, writesOf } from './writes.js'

/** Every refused record is among the rejections, once, and on their topic, always the same; nothing else is. */
export const checkRejections: Check = (ledger, observed) => {
  const inVain = new Set(observed.waits.filter(({ state }) => state === 'refused').map(waitName))
  const refused = new Map<string, Write>(
    writesOf(ledger)
      .map((write) => [`${write.batchId} ${write.index}`, write] as const)
      .filter(([name, { codes, waited }]) => codes !== undefined || (waited && inVain.has(name)))
      .map(([name, write]) => [name, { ...write, codes: write.codes ?? inVainCodes }]),
  )
  // Interactions are checked by their markers.
  const rows = groupBy(
    observed.rejections.filter(({ type }) => type !== 'interactions'),
    ({ batch_id, index }) => `${batch_id} ${index}`,
  )
  const events = groupBy(
    observed.topics.filter(({ topic, value }) => topic === 'weir.rejected' && value.type !== 'interactions'),
    ({ value }) => `${value.batch_id} ${value.index}`,
  )
  return [
    ...[...refused].flatMap(([name, write]): Finding[] => {
      const about = `${write.type} ${keyOf(write)}, batch and index ${name}`
      const found = rows.get(name) ?? []
      const told = new Set((events.get(name) ?? []).map(({ bytes }) => bytes))
      if (found.length === 0) return [{ name: 'lost-rejection', about }]
      if (found.length > 1) return [{ name: 'rejected-twice', about: `${about}: ${found.length} times` }]
      if (found[0]?.codes.join() !== write.codes?.join()) return [{ name: 'wrong-rejection', about }]
      return told.size === 1
        ? []
        : [{ name: 'rejected-topic-disagrees', about: `${about}: ${told.size} different events` }]
    }),
    ...[...rows.keys(), ...events.keys()]
      .filter((name) => !refused.has(name))
      .map((name) => ({ name: 'stranger-in-rejections', about: `batch and index ${name}` })),
  ]
}
