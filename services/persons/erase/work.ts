import * as ledger from '#ledger/erasures/erasures.js'
import { type Erasure, endErasure } from '#ledger/erasures/erasures.js'
import { openGate } from '#ledger/erasures/gates.js'
import { reasonOf } from '#platform/health/health.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { createRests } from '../remove/giving-way.js'
import { ifFirst } from '../remove/if-first.js'
import { type EraseDeps, erase } from './erase.js'
import { checkErased, type Proof, type SigningKey, signingKey, signProof } from './prove.js'
import { tellOthers } from './tell-others.js'
import { untilDecided } from './until-read.js'

const mostAtOnce = 10_000
const againAfter = 3_600
const endedTogether = 50

/** Does what erasures are asked for, all that there are at once; resolves to whether all of them have ended. */
export const eraseAsked = async (deps: EraseDeps): Promise<boolean> => {
  const { pool } = deps
  await ledger.reopenErasures(pool, againAfter)
  const asked = await ledger.runningErasures(pool, mostAtOnce)
  if (asked.length === 0) return true
  return (await ifFirst(pool, () => eraseAll(deps, asked))) ?? true
}

/** Tries those once more that have failed, all at once: what was in the way may be mended. */
export const eraseFailed = async (deps: EraseDeps): Promise<void> => {
  const failed = await ledger.failedErasures(deps.pool, mostAtOnce)
  if (failed.length > 0) await ifFirst(deps.pool, () => eraseAll(deps, failed))
}

const eraseAll = async (deps: EraseDeps, asked: readonly Erasure[]): Promise<boolean> => {
  const { pool, log } = deps
  try {
    await erase(deps, asked)
    const ids = asked.map(({ erasureId }) => erasureId)
    await ledger.noteStep(pool, ids, 'reading everything again')
    const now = await ledger.findErasures(pool, ids)
    // What integrity decided once more meanwhile, as where a consumer group's offsets were lost, may name them again.
    if (asked.some(({ isDryRun }) => !isDryRun)) await untilDecided(deps)
    const proofs = await checkErased(deps, now)
    const key = await signingKey(pool)
    const givesWay = createRests({ signal: deps.signal })
    const ends: PromiseSettledResult<boolean>[] = []
    // All of them, also where one fails: the others are done.
    for (let from = 0; from < now.length; from += endedTogether) {
      const some = now.slice(from, from + endedTogether)
      ends.push(...(await Promise.allSettled([givesWay(() => endAll(deps, some, proofs, key))])))
    }
    const failed = ends.find((each) => each.status === 'rejected')
    if (failed) throw failed.reason
    // The rows named the persons until now. A plain vacuum would leave the bytes; the table is small.
    await pool.query('vacuum full erasure.erasures')
    return ends.every((each) => each.status === 'fulfilled' && each.value)
  } catch (error) {
    if (!deps.signal.aborted) {
      log.warn({ err: error }, 'erasures could not go on, and are tried again')
      const ids = asked.map(({ erasureId }) => erasureId)
      await ledger.noteProblem(pool, ids, reasonOf(error)).catch(() => {})
    }
    throw error
  }
}

/**
 * Reads everything once more a day after erasures have ended, and does those again of which something is there: a process that slept all the
 * while may have written what it had in hand when it woke up.
 */
export const lookAgain = async (deps: EraseDeps): Promise<void> => {
  const { pool, log } = deps
  const due = await ledger.erasuresToLookAt(pool, mostAtOnce)
  if (due.length === 0) return
  await ifFirst(pool, async () => {
    const proofs = await checkErased(deps, due)
    const ids = due.map(({ erasureId }) => erasureId)
    const back = ids.filter((id) => proofs.get(id)?.left.length !== 0)
    await ledger.noteLookedAgain(
      pool,
      ids.filter((id) => !back.includes(id)),
    )
    if (back.length === 0) return
    await ledger.repeatErasures(pool, back, null)
    log.warn({ erasures: back }, 'something of persons who were forgotten had come back, and is taken out')
  })
}

/** Ends those of which nothing is left; resolves to whether these are all. */
const endAll = async (
  deps: EraseDeps,
  erasures: readonly Erasure[],
  proofs: ReadonlyMap<string, Proof>,
  key: SigningKey,
): Promise<boolean> => {
  const { pool, log } = deps
  deps.signal.throwIfAborted()
  const gone: { erasure: Erasure; proof: Proof }[] = []
  for (const erasure of erasures) {
    const { erasureId, isDryRun } = erasure
    const proof = proofs.get(erasureId)
    if (!proof) continue
    const [first] = proof.left
    if (isDryRun || !first) {
      gone.push({ erasure, proof })
      continue
    }
    // What came beside it, such as a batch that was refused meanwhile: the next run takes it.
    const problem = `${proof.left.length} places still have something of it, such as ${first.where}; it is done again`
    await ledger.noteProblem(pool, [erasureId], problem)
    log.warn({ erasure_id: erasureId, left: proof.left.slice(0, 10) }, 'not everything is gone yet')
  }
  const real = gone.flatMap(({ erasure }) => (erasure.isDryRun ? [] : [erasure]))
  if (real.length > 0) await tellOthers(deps, real)
  // One commit for some of them: each is a wait for the disk, and uploads wait for the same one.
  await inTransaction(pool, async (connection) => {
    for (const { erasure, proof } of gone) {
      const { erasureId, orgId, isDryRun, afterwards } = erasure
      // Not before nothing is left: what comes from now on is that of somebody new, and would be taken for what is left.
      if (!isDryRun && afterwards === 'new') await openGate(connection, orgId, erasureId)
      await endErasure(connection, erasure, signProof(key, proof))
    }
  })
  return gone.length === erasures.length
}
