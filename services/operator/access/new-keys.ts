import type { Command } from 'commander'
import { createKeyText, hashKey } from '#ledger/key-text.js'
import { endKey, insertKey, lockKey, revokeKey } from '#ledger/keys.js'
import { type Connection, inTransaction } from '#platform/postgres/postgres.js'
import { readDuration, readLifetime } from '../desk/arguments.js'
import { OperatorError } from '../desk/operator-error.js'
import { examples, type Session } from '../desk/session.js'
import { readKeyId, stateOf } from './key.js'
import { noSuchKey } from './keys-revoke.js'
import { writeScopes } from './read-scopes.js'

type Options = { grace: string; expires?: string; json?: boolean }

export const addKeysRotate = (keys: Command, session: Session): void => {
  keys
    .command('rotate')
    .description('make a new key with the same organisation and scopes, and let the old one run out')
    .argument('<key_id>', 'the key to replace')
    .option('--grace <duration>', 'how long the old key still works; 0 ends it at once', '24h')
    .option('--expires <duration>', 'how long the new key lives (default: as long as the old one was given)')
    .option('--json', 'one line of JSON, as "keys issue" gives, and replaces: {key_id, expires_at} of the old key')
    .addHelpText('after', examples('keys rotate 4fQz81LmXa0B', 'keys rotate 4fQz81LmXa0B --grace 0 --json'))
    .action((given: string, options: Options) => rotate(given, options, session))
}

const rotate = async (given: string, options: Options, session: Session): Promise<void> => {
  const grace = readDuration(options.grace)
  const lifetime = options.expires === undefined ? undefined : readLifetime(options.expires)
  const { keyId, key } = createKeyText()

  const { old, endsAt, expires_at } = await session.withPool((pool) =>
    inTransaction(pool, async (connection) => {
      const old = await lockKey(connection, readKeyId(given))
      if (!old) throw noSuchKey(given)
      const state = stateOf(old, new Date())
      if (state !== 'active')
        throw new OperatorError(`the key ${old.key_id} is ${state}: issue a new one for ${old.org}`)
      // A key that was meant to run out is not replaced by one that never does.
      const asBefore = old.expires_at ? old.expires_at.getTime() - old.created_at.getTime() : null
      const { org, scopes } = old
      const made = await insertKey(connection, {
        keyId,
        hash: hashKey(key),
        org,
        scopes,
        lifetime: lifetime ?? asBefore,
      })
      return { old, endsAt: await end(connection, old.key_id, grace), ...made }
    }),
  )

  if (options.json) {
    const scopes = writeScopes(old.scopes, session.catalogue)
    const replaces = { key_id: old.key_id, expires_at: endsAt }
    session.print(JSON.stringify({ key_id: keyId, key, org: old.org, scopes, expires_at, replaces }))
    return
  }
  session.print(key)
  const ends = grace === 0 ? 'now' : `at ${endsAt.toISOString()}`
  session.note(`key ${keyId} for ${old.org} (expires ${expires_at?.toISOString() ?? 'never'}) replaces ${old.key_id}`)
  session.note(`${old.key_id} ends ${ends}`)
  session.note('Keep it now: only its hash is stored, and it will not be shown again.')
}

// At once means revoked: an expiry of "now" would hold on a server whose clock is behind.
const end = async (connection: Connection, keyId: string, grace: number): Promise<Date> => {
  const endsAt = await endKey(connection, keyId, grace)
  if (grace === 0) await revokeKey(connection, keyId)
  return endsAt
}
