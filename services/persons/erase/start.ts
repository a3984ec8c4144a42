import { lastBegun } from '#ledger/erasures/erasures.js'
import { periodically } from '#platform/process/periodically.js'
import type { EraseDeps } from './erase.js'
import { takeUpErasures } from './known-before.js'
import { eraseAsked, eraseFailed, lookAgain } from './work.js'

// While nobody is to be forgotten this costs one look at a small index.
const lookEvery = 2_000
const longestPause = 10 * 60_000
// What was in the way for a day is in the way in ten minutes, too, and a try reads all topics.
const failedEvery = 3_600_000

/** Forgets whom it is asked to, for as long as the service runs. */
export const startErasing = (deps: EraseDeps): { stop: () => Promise<void> } => {
  let pause = lookEvery
  let notBefore = 0
  let newest = 0
  let failedNotBefore = 0
  let isLookedUp = false
  const work = async (): Promise<void> => {
    if (!isLookedUp) await takeUpErasures(deps)
    isLookedUp = true
    const asked = (await lastBegun(deps.pool)) ?? 0
    // What fails reads all topics first, so it is not tried again at once; but what is asked for meanwhile does not wait for it.
    if (performance.now() < notBefore && asked <= newest) return
    newest = asked
    pause = Math.min(2 * pause, longestPause)
    notBefore = performance.now() + pause
    if (await eraseAsked(deps)) [pause, notBefore] = [lookEvery, 0]
    await lookAgain(deps)
    if (performance.now() < failedNotBefore) return
    failedNotBefore = performance.now() + failedEvery
    await eraseFailed(deps)
  }
  return periodically({ name: 'erasures', everyMs: lookEvery, work, log: deps.log })
}
