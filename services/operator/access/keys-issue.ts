import type { Command } from 'commander'
import { createKeyText, hashKey } from '#ledger/key-text.js'
import { insertKey } from '#ledger/keys.js'
import { createOrg } from '#ledger/organisations.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { scopesOf } from '#schemas/derive/scopes.js'
import { readLifetime } from '../desk/arguments.js'
import { examples, type Session } from '../desk/session.js'
import { wrap } from '../desk/table.js'
import { readOrg } from './read-org.js'
import { readScopes, writeScopes } from './read-scopes.js'

type Options = { org: string; scopes?: string; expires?: string; json?: boolean }

export const addKeysIssue = (keys: Command, session: Session): void => {
  keys
    .command('issue')
    .description('make a new API key; an organisation that does not exist yet is created')
    .requiredOption('--org <id>', 'the organisation that the key speaks for')
    .option('--scopes <list>', 'what it may do, comma-separated (default: everything, types yet to come included)')
    .option('--expires <duration>', 'how long it lives: 30m, 24h, 90d (default: for ever)')
    .option('--json', 'one line of JSON: key_id, key, org, scopes (always a list), expires_at (ISO 8601 or null)')
    .addHelpText(
      'after',
      examples('keys issue --org acme', 'keys issue --org acme --scopes shops:write,tags:write --expires 90d --json'),
    )
    .addHelpText(
      'after',
      `\nScopes (data:write covers every uploaded type):\n${indent(scopesOf(session.catalogue).join(' '), session.width)}`,
    )
    .action((options: Options) => issue(options, session))
}

const issue = async (options: Options, session: Session): Promise<void> => {
  const org = readOrg(options.org)
  const scopes = options.scopes === undefined ? null : readScopes(options.scopes, session.catalogue)
  const lifetime = options.expires === undefined ? null : readLifetime(options.expires)
  const { keyId, key } = createKeyText()

  const { isNew, expires_at } = await session.withPool((pool) =>
    inTransaction(pool, async (connection) => {
      const isNew = await createOrg(connection, org)
      return { isNew, ...(await insertKey(connection, { keyId, hash: hashKey(key), org, scopes, lifetime })) }
    }),
  )

  if (isNew) session.note(`created the organisation ${org}`)
  if (options.json) {
    session.print(
      JSON.stringify({ key_id: keyId, key, org, scopes: writeScopes(scopes, session.catalogue), expires_at }),
    )
    return
  }
  session.print(key)
  session.note(
    `key ${keyId} for ${org}: ${scopes?.join(', ') ?? 'all scopes'}; expires ${expires_at?.toISOString() ?? 'never'}`,
  )
  session.note('Keep it now: only its hash is stored, and it will not be shown again.')
}

const indent = (text: string, width: number): string =>
  wrap(text, width - 2)
    .map((line) => `  ${line}`)
    .join('\n')
