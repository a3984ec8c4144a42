import * as ledger from '#ledger/erasures/erasures.js'
import { type Erasure, endErasure, noteErasure } from '#ledger/erasures/erasures.js'
import { openGate } from '#ledger/erasures/gates.js'
import { reasonOf } from '#platform/health/health.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { ifFirst } from '../remove/if-first.js'
import { type EraseDeps, erase } from './erase.js'
import { checkErased, signingKey, signProof } from './prove.js'
import { tellOthers } from './tell-others.js'
import { untilDecided } from './until-read.js'

const mostAtOnce = 10_000
const againAfter = 3_600

/** Does what erasures are asked for, all that there are at once; resolves to whether all of them have ended. */
export const eraseAsked = async (deps: EraseDeps): Promise<boolean> => {
  const { pool } = deps
  await ledger.reopenErasures(pool, againAfter)
  const asked = await ledger.runningErasures(pool, mostAtOnce)
  if (asked.length === 0) return true
  return (await ifFirst(pool, () => eraseAll(deps, asked))) ?? true
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
    let ended = 0
    for (const erasure of now) {
      const proof = proofs.get(erasure.erasureId)
      if (!proof) continue
      if (!erasure.isDryRun && proof.left.length > 0) {
        const [first] = proof.left
        // What came beside it, such as a batch that was refused meanwhile: the next run takes it.
        const problem = `${proof.left.length} places still have something of it, such as ${first?.where}; it is done again`
        await noteErasure(pool, erasure.erasureId, { problem })
        log.warn({ erasure_id: erasure.erasureId, left: proof.left.slice(0, 10) }, 'not everything is gone yet')
        continue
      }
      if (!erasure.isDryRun) await tellOthers(deps, erasure)
      // Not before nothing is left: what comes from now on is that of somebody new, and would be taken for what is left.
      if (!erasure.isDryRun && erasure.afterwards === 'new')
        await inTransaction(pool, (connection) => openGate(connection, erasure.orgId, erasure.erasureId))
      await endErasure(pool, erasure, { status: 'done', ...signProof(key, proof) })
      ended++
    }
    // The rows named the persons until now. A plain vacuum would leave the bytes; the table is small.
    await pool.query('vacuum full erasure.erasures')
    return ended === now.length
  } catch (error) {
    if (!deps.signal.aborted) {
      log.warn({ err: error }, 'erasures could not go on, and are tried again')
      for (const { erasureId } of asked)
        await noteErasure(pool, erasureId, { problem: reasonOf(error) }).catch(() => {})
    }
    throw error
  }
}
