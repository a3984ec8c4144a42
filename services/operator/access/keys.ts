import type { Command } from 'commander'
import { type Key, listKeys } from '#ledger/keys.js'
import { toDistance } from '../desk/arguments.js'
import { examples, type Session } from '../desk/session.js'
import { type Column, toTable } from '../desk/table.js'
import { stateOf } from './key.js'
import { readOrg } from './read-org.js'
import { writeScopes } from './read-scopes.js'

type Options = { org?: string; json?: boolean }

export const addKeysList = (keys: Command, session: Session): void => {
  keys
    .command('list')
    .description('show keys: their state, scopes, expiry and last use; never a secret')
    .option('--org <id>', 'only those of one organisation')
    .option('--json', 'one line: an array with key_id, org, scopes, state and the dates (ISO 8601 or null)')
    .addHelpText('after', examples('keys list', 'keys list --org acme --json'))
    .action((options: Options) => list(options, session))
}

const list = async (options: Options, session: Session): Promise<void> => {
  const org = options.org === undefined ? null : readOrg(options.org)
  const found = await session.withPool((pool) => listKeys(pool, org))
  const now = new Date()
  if (options.json) {
    const written = found.map((key) => ({
      ...key,
      scopes: writeScopes(key.scopes, session.catalogue),
      state: stateOf(key, now),
    }))
    session.print(JSON.stringify(written))
    return
  }
  if (found.length > 0) session.print(toTable(columns(now), found, session.width))
  else session.note(`no keys${org ? ` for ${org}` : ''} yet: "weir keys issue --org ${org ?? 'acme'}" makes one`)
}

const columns = (now: Date): Column<Key>[] => [
  { title: 'KEY ID', cell: (key) => key.key_id },
  { title: 'ORG', cell: (key) => key.org, wraps: true },
  { title: 'STATE', cell: (key) => stateOf(key, now) },
  { title: 'EXPIRES', cell: (key) => (key.expires_at ? toDistance(key.expires_at, now) : 'never') },
  { title: 'LAST USED', cell: (key) => (key.last_used_at ? toDistance(key.last_used_at, now) : 'never') },
  { title: 'SCOPES', cell: (key) => key.scopes?.join(' ') ?? 'all', wraps: true },
]
