import type { Command } from 'commander'
import { revokeKey } from '#ledger/keys.js'
import { OperatorError } from '../desk/operator-error.js'
import { examples, type Session } from '../desk/session.js'
import { readKeyId } from './key.js'

export const addKeysRevoke = (keys: Command, session: Session): void => {
  keys
    .command('revoke')
    .description('end a key for good; revoking it again changes nothing')
    .argument('<key_id>', 'as "keys list" shows it; the text of a leaked key will do as well')
    .option('--json', 'one line of JSON: key_id, org, revoked_at')
    .addHelpText('after', examples('keys revoke 4fQz81LmXa0B'))
    .action((given: string, options: { json?: boolean }) => revoke(given, options, session))
}

const revoke = async (given: string, options: { json?: boolean }, session: Session): Promise<void> => {
  const revoked = await session.withPool((pool) => revokeKey(pool, readKeyId(given)))
  if (!revoked) throw noSuchKey(given)
  const { key_id, org, revoked_at, already } = revoked
  if (options.json) session.print(JSON.stringify({ key_id, org, revoked_at }))
  else
    session.print(`${key_id} of ${org} ${already ? 'was already revoked' : 'is revoked'} (${revoked_at.toISOString()})`)
}

/** What was given may be most of a secret: only what looks like an id is repeated. */
export const noSuchKey = (given: string): OperatorError =>
  new OperatorError(
    `there is no key ${/^\w{1,16}$/.test(given) ? given : 'with that id'}: "weir keys list" shows those there are`,
  )
