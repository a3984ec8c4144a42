import type { Command } from 'commander'
import { askDeletion } from '#ledger/erasures/erasures.js'
import { hasOperatorKeys } from '#ledger/keys.js'
import { hasOrg } from '#ledger/organisations.js'
import { reasonOf } from '#platform/health/health.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { readOrg } from '../command/arguments.js'
import { canAsk, confirm } from '../command/confirm.js'
import { OperatorError } from '../command/operator-error.js'
import { examplesAnd, type Session } from '../command/session.js'
import { follow } from '../erasures/follow.js'
import { dropAnalysts } from './analysts.js'

type Options = Partial<Record<'dryRun' | 'wait' | 'yes' | 'json', boolean>>

/** Removes an organisation with all that it has. */
export const addOrgsDelete = (orgs: Command, session: Session): void => {
  orgs
    .command('delete')
    .description('remove an organisation and all that it has from topics and tables, and prove it')
    .argument('<org>', 'its id, which is not given again')
    .option('--dry-run', 'only count what there is')
    .option('--wait', 'until it has ended; shows the steps')
    .option('--yes', 'do not ask; needed where there is no terminal')
    .option('--json', 'one line of JSON: as "weir erasures show" has it, mode: organisation')
    .addHelpText(
      'after',
      examplesAnd(
        about,
        'orgs delete acme --dry-run --wait',
        'orgs delete acme --wait',
        'orgs delete acme --yes --json',
      ),
    )
    .action((given: string, options: Options) => remove(given, options, session))
}

const about = `
At once its keys end, its webhooks are disabled and its analysts' logins are gone. Then the delivery service takes every record, refusal and
wait of it out of topics and tables, as "weir erasures" does for a person, reads everything again and signs what it finds: "weir erasures prove"
repeats that at any time. Nothing brings it back. What others have stays: whoever has read the topics, files that were exported, backups.

Exit code: with --wait 0 when it is done, 1 when it has failed.`

const remove = async (given: string, options: Options, session: Session): Promise<void> => {
  const orgId = readOrg(given)
  const isDryRun = options.dryRun === true
  await session.withParts(['pool'], async ({ pool }) => {
    if (!(await hasOrg(pool, orgId)))
      throw new OperatorError(`there is no organisation ${orgId}: "weir erasures list" shows those that were deleted`)
    if (await hasOperatorKeys(pool, orgId))
      throw new OperatorError(
        `${orgId} has keys of operators, who would be locked out: "weir keys list --org ${orgId}", and revoke them first`,
      )
    if (!isDryRun && !(await isWanted(orgId, options)))
      return session.note('nothing was asked for, and nothing is removed')
    if (!isDryRun) await dropLogins(session, orgId)
    const asked = await inTransaction(pool, (connection) => askDeletion(connection, { orgId, isDryRun }))
    await follow(pool, asked, options, session)
  })
}

/** Where Weir may not manage users it made none; somebody else may have, with what it printed. */
const dropLogins = async (session: Session, orgId: string): Promise<void> => {
  try {
    await dropAnalysts(session, orgId)
  } catch (error) {
    session.note(`the logins of its analysts are not dropped, and see nothing any more: ${reasonOf(error)}`)
  }
}

const isWanted = async (orgId: string, { yes }: Options): Promise<boolean> => {
  if (yes) return true
  if (!canAsk()) throw new OperatorError('nothing brings it back: add --yes, or --dry-run to see what there is')
  return confirm(`Remove ${orgId} and all that it has, for good?`)
}
