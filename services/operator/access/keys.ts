import type { Command } from 'commander'
import { commandLine } from '#ledger/audit.js'
import { keyIdOf } from '#ledger/key-text.js'
import { type KeyWithMakers, listKeys, renameKey, revokeKey, stateOf } from '#ledger/keys.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { allows, scopesOf } from '#schemas/derive/scopes.js'
import { readKeyName, readName, readOrg } from '../command/arguments.js'
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
      'one line: an array with key_id, name, org, scopes, is_operator, state, created_by, revoked_by and the dates',
    )
    .addHelpText('after', examples('keys list', 'keys list --org acme --json'))
    .action((options: ListOptions) => list(options, session))
}

const list = async (options: ListOptions, session: Session): Promise<void> => {
  const org = options.org === undefined ? null : readOrg(options.org)
  const found = await session.withParts(['pool'], ({ pool }) => listKeys(pool, { org }))
  const now = new Date()
  if (options.json) {
    const write = (key: KeyWithMakers) => ({
      ...key,
      created_by: key.created_by?.actor ?? null,
      revoked_by: key.revoked_by?.actor ?? null,
      scopes: writeScopes(key.scopes, session.catalogue),
      state: stateOf(key, now),
    })
    session.print(JSON.stringify(found.map(write)))
  } else if (found.length > 0) session.print(toTable(columns(now), found, session.width))
  else session.note(`no keys${org ? ` for ${org}` : ''} yet: "weir keys issue --org ${org ?? 'acme'}" makes one`)
}

const columns = (now: Date): Column<KeyWithMakers>[] => [
  { title: 'KEY ID', cell: (key) => key.key_id },
  { title: 'NAME', cell: (key) => key.name ?? '', wraps: true },
  { title: 'ORG', cell: (key) => key.org, wraps: true },
  { title: 'STATE', cell: (key) => stateOf(key, now) },
  { title: 'EXPIRES', cell: (key) => (key.expires_at ? toDistance(key.expires_at, now) : 'never') },
  { title: 'LAST USED', cell: (key) => (key.last_used_at ? toDistance(key.last_used_at, now) : 'never') },
  { title: 'SCOPES', cell: (key) => key.scopes?.join(' ') ?? (key.is_operator ? 'operator' : 'all'), wraps: true },
]

export const addKeysRename = (keys: Command, session: Session): void => {
  keys
    .command('rename')
    .description('give a key another name, by which people know it')
    .argument('<key_id>', 'as "keys list" shows it')
    .argument('<name>', 'up to 100 characters')
    .option('--json', 'one line of JSON: key_id, org, name')
    .addHelpText('after', examples('keys rename 4fQz81LmXa0B "nightly upload"'))
    .action((keyId: string, name: string, options: { json?: boolean }) => rename(keyId, name, options, session))
}

const rename = async (keyId: string, given: string, options: { json?: boolean }, session: Session): Promise<void> => {
  const name = readKeyName(given)
  const renamed = await session.withParts(['pool'], ({ pool }) => renameKey(pool, { keyId, name }, commandLine))
  if (!renamed) throw noSuchKey(keyId)
  session.print(options.json ? JSON.stringify(renamed) : `${keyId} of ${renamed.org} is now called ${name}`)
}

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
  const revoked = await session.withParts(['pool'], ({ pool }) => revokeKey(pool, readKeyId(given), commandLine))
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
  ...(scopes ?? scopesOf(catalogue).filter((scope) => allows(null, scope, catalogue))),
]
