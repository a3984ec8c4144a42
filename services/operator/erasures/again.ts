import { repeatErasures } from '#ledger/erasures/erasures.js'
import { readMoment } from '../command/arguments.js'
import { OperatorError } from '../command/operator-error.js'
import type { Session } from '../command/session.js'
import { findKnown } from './prove.js'

/** Has erasures done once more, where something was put back to a time before them, or what kept them from ending is mended. */
export const again = async (
  erasureIds: readonly string[],
  options: { since?: string; json?: boolean },
  session: Session,
): Promise<void> => {
  if (erasureIds.length > 0 === (options.since !== undefined))
    throw new OperatorError('which erasures? Name them, or say with --since when the first of them ended')
  const since =
    options.since === undefined
      ? null
      : new Date(
          readMoment(
            options.since,
            Date.now(),
            '--since takes a time, such as 2026-01-31, or how long ago, such as 30d',
          ),
        )
  const erasures = await session.withParts(['pool'], async ({ pool }) => {
    for (const id of erasureIds) {
      const { isDryRun, status, afterwards } = await findKnown(pool, id)
      if (afterwards === 'new' && status !== 'failed')
        throw new OperatorError(
          `${id}: what came since counts as that of somebody new, and would go too; ask for a new erasure`,
        )
      if (isDryRun) throw new OperatorError(`${id} was a dry run: it removed nothing, and has nothing to do again`)
      if (status === 'running') throw new OperatorError(`${id} runs already: "weir erasures show ${id}"`)
    }
    return repeatErasures(pool, erasureIds.length > 0 ? erasureIds : null, since)
  })
  if (options.json) return session.print(JSON.stringify({ erasures }))
  session.note(
    erasures === 0
      ? 'no erasure has ended since then: nothing is done again'
      : `${erasures} ${erasures === 1 ? 'is' : 'are'} done once more: "weir erasures list" says how far`,
  )
}
