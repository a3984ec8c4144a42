import { setTimeout as wait } from 'node:timers/promises'
import { beginRun, endRun, isRetentionDue, listRules } from '#ledger/erasures/record-retention.js'
import { reasonOf } from '#platform/health/health.js'
import { periodically } from '#platform/process/periodically.js'
import { ifFirst } from '../remove/if-first.js'
import { type RetentionDeps, removeOld } from './apply.js'
import { cutoffsOf } from './cutoffs.js'

const lookEvery = 10_000
// Oftener than erasures look: who asks for one after the other does not hold up the rules for good.
const turnEvery = 500

/** Removes what is too old by the rules there are, once a day, and soon after a rule was set. */
export const startRetaining = (deps: RetentionDeps): { stop: () => Promise<void> } =>
  periodically({
    name: 'retention of records',
    everyMs: lookEvery,
    work: async () => {
      while (
        (await isRetentionDue(deps.pool)) &&
        (await ifFirst(deps.pool, () => applyRules(deps, Date.now()))) === undefined
      )
        await wait(turnEvery, undefined, { signal: deps.signal })
    },
    log: deps.log,
  })

/** As at a moment. */
const applyRules = async (deps: RetentionDeps, now: number): Promise<true> => {
  const { pool, log } = deps
  const cutoffs = cutoffsOf(deps.catalogue, await listRules(pool), now)
  for (let isAll = false; !isAll; ) {
    const runId = await beginRun(pool)
    try {
      const { notYet, ...done } = await removeOld(deps, cutoffs)
      isAll = done.isAll
      const problem =
        notYet.size === 0
          ? null
          : `${[...notYet].join(', ')}: nothing can be removed before its messages of a Weir from before erasures are too old for the topic`
      await endRun(pool, runId, { removed: done.removed, problem })
      log.info({ removed: done.removed }, 'what is too old is removed')
    } catch (error) {
      if (!deps.signal.aborted) await endRun(pool, runId, { removed: [], problem: reasonOf(error) }).catch(() => {})
      throw error
    }
  }
  return true
}
