import type { Observed, StoredWait } from '../observe/observed.js'
import { isResume } from './check-verdicts.js'
import type { Check, Finding } from './finding.js'
import { acceptedOf, groupBy, keyOf, waitName, writesOf } from './writes.js'

/**
 * What waited is accepted once in the end, or refused where what it waited for never came, or a newer record of its id took its
 * place; no record overtakes a newer one of its id; and the views and the topics say the same.
 */
export const checkWaiting: Check = (ledger, observed) => {
  const writes = writesOf(ledger)
  const rows = new Map(observed.waits.map((wait) => [waitName(wait), wait]))
  const told = new Map(
    writes.flatMap((write) =>
      write.waited ? [[waitName({ batch_id: write.batchId, index: write.index }), write]] : [],
    ),
  )
  const newest = new Map(writes.map((write) => [`${write.type} ${keyOf(write)}`, write]))
  const isReplaced = (name: string): boolean => {
    const write = told.get(name)
    return write !== undefined && newest.get(`${write.type} ${keyOf(write)}`) !== write
  }
  return [
    ...[...told].flatMap(([name, write]): Finding[] =>
      rows.has(name) ? [] : [{ name: 'lost-waiting', about: `${write.type} ${keyOf(write)}, batch and index ${name}` }],
    ),
    ...[...rows].flatMap(([name, { type, state, is_early }]): Finding[] => {
      const about = `${type}, batch and index ${name}: ${state}`
      if (type !== 'interactions' && !told.has(name)) return [{ name: 'stranger-waiting', about }]
      if (is_early) return [{ name: 'refused-too-early', about }]
      const end = told.get(name)?.expected === 'expires' ? 'refused' : 'accepted'
      const isRight = state === end || (state === 'superseded' && isReplaced(name))
      return isRight ? [] : [{ name: 'wrong-end-of-waiting', about }]
    }),
    ...checkReleases(observed),
    ...[...groupBy(acceptedOf(ledger, observed), (write) => `${write.type} ${keyOf(write)}`)].flatMap(
      ([key, all]): Finding[] => {
        const versions = all.map(({ version }) => version)
        const isInOrder = versions.every((version, n) => n === 0 || (versions[n - 1] ?? 0) < version)
        return isInOrder ? [] : [{ name: 'out-of-order', about: `${key} was written as ${versions}` }]
      },
    ),
    ...checkTold(rows, observed),
  ]
}

/** As many records are accepted by being decided anew as have waited and are accepted: none twice. */
const checkReleases = ({ verdicts, waits }: Observed): Finding[] => {
  const released = groupBy(verdicts.filter(isResume), ({ org_id, type }) => `${org_id} ${type}`)
  const accepted = groupBy(
    waits.filter(({ state }) => state === 'accepted'),
    ({ org_id, type }) => `${org_id} ${type}`,
  )
  return [...new Set([...released.keys(), ...accepted.keys()])].flatMap((name): Finding[] => {
    const times = (released.get(name) ?? []).reduce((sum, verdict) => sum + verdict.accepted, 0)
    const records = accepted.get(name)?.length ?? 0
    return times === records
      ? []
      : [{ name: 'released-wrongly', about: `${name}: ${records} waited and are accepted, ${times} were released` }]
  })
}

const checkTold = (rows: ReadonlyMap<string, StoredWait>, { topics, waitingLog }: Observed): Finding[] => {
  const events = groupBy(
    topics.filter(({ topic }) => topic === 'weir.waiting'),
    ({ value }) => waitName({ batch_id: String(value.batch_id), index: Number(value.index) }),
  )
  const shown = groupBy(waitingLog, waitName)
  return [...new Set([...rows.keys(), ...events.keys(), ...shown.keys()])].flatMap((name): Finding[] => {
    const state = rows.get(name)?.state
    const last = events.get(name)?.reduce((a, b) => (Number(a.value.version) > Number(b.value.version) ? a : b))
    const inLog = (shown.get(name) ?? []).map((row) => row.state).join(' and ')
    return state === last?.value.state && state === inLog
      ? []
      : [
          {
            name: 'waiting-disagrees',
            about: `${name} is ${state}, on its topic ${last?.value.state}, shown as ${inLog}`,
          },
        ]
  })
}
