import type { Command } from 'commander'
import { keyIdOf } from '#ledger/key-text.js'
import { type Key, listKeys, revokeKey, stateOf } from '#ledger/keys.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { scopesOf } from '#schemas/derive/scopes.js'
import { readName, readOrg } from '../command/arguments.js'
import { OperatorError } from '../command/operator-error.js'
import { examples, type Session } from '../command/session.js'
import { type Column, toDistance, toTable } from '../command/table.js'

type ListOptions = { org?: string; json?: boolean }

export const addKeysList = (keys: Command, session: Session): void => {
  keys
    .command('list')
    .description('show keys: their state, scopes, expiry and last use; never a secret')
    .option('--org <id>', 'only those of one organisation')
    .option(
      '--json',
      'one line: an array with key_id, org, scopes, is_operator, state and the dates (ISO 8601 or null)',
    )
    .addHelpText('after', examples('keys list', 'keys list --org acme --json'))
    .action((options: ListOptions) => list(options, session))
}

const list = async (options: ListOptions, session: Session): Promise<void> => {
  const org = options.org === undefined ? null : readOrg(options.org)
  const found = await session.withParts(['pool'], ({ pool }) => listKeys(pool, org))
  const now = new Date()
  if (options.json) {
    const write = (key: Key) => ({
      ...key,
      scopes: writeScopes(key.scopes, session.catalogue),
      state: stateOf(key, now),
    })
    session.print(JSON.stringify(found.map(write)))
  } else if (found.length > 0) session.print(toTable(columns(now), found, session.width))
  else session.note(`no keys${org ? ` for ${org}` : ''} yet: "weir keys issue --org ${org ?? 'acme'}" makes one`)
}

const columns = (now: Date): Column<Key>[] => [
  { title: 'KEY ID', cell: (key) => key.key_id },
  { title: 'ORG', cell: (key) => key.org, wraps: true },
  { title: 'STATE', cell: (key) => stateOf(key, now) },
  { title: 'EXPIRES', cell: (key) => (key.expires_at ? toDistance(key.expires_at, now) : 'never') },
  { title: 'LAST USED', cell: (key) => (key.last_used_at ? toDistance(key.last_used_at, now) : 'never') },
  { title: 'SCOPES', cell: (key) => key.scopes?.join(' ') ?? (key.is_operator ? 'operator' : 'all'), wraps: true },
]

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
  const revoked = await session.withParts(['pool'], ({ pool }) => revokeKey(pool, readKeyId(given)))
  if (!revoked) throw noSuchKey(given)
  const { key_id, org, revoked_at, already } = revoked
  if (options.json) session.print(JSON.stringify({ key_id, org, revoked_at }))
  else
    session.print(`${key_id} of ${org} ${already ? 'was already revoked' : 'is revoked'} (${revoked_at.toISOString()})`)
}

/** An operator who has found a leaked key holds its text, not its id: either will do. */
export const readKeyId = (given: string): string => keyIdOf(given) ?? given

/** What was given may be most of a secret: only what looks like an id is repeated. */
export const noSuchKey = (given: string): OperatorError =>
  new OperatorError(
    `there is no key ${/^\w{1,16}$/.test(given) ? given : 'with that id'}: "weir keys list" shows those there are`,
  )

/** The scopes in `shops:write,tags:write`; each must be one that a route asks for. */
export const readScopes = (given: string, catalogue: Catalogue): string[] => {
  const scopes = [...new Set(given.split(',').map((scope) => scope.trim()))].filter((scope) => scope !== '')
  // One reader would take an empty list for "no scopes", another for "all of them".
  if (scopes.length === 0)
    throw new OperatorError('--scopes names no scope: leave it out for a key that may do everything')
  return scopes.map((scope) => readName('scope', scope, scopesOf(catalogue)))
}

/** What a key may do, as a list: a key with "all" in the database (null) also gets the scopes of types yet to come. */
export const writeScopes = (scopes: readonly string[] | null, catalogue: Catalogue): string[] => [
  ...(scopes ?? scopesOf(catalogue)),
]
