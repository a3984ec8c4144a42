import type { Command } from 'commander'
import { commandLine } from '#ledger/audit.js'
import { givenLife, issueKey, lockKey, rotateKey, stateOf } from '#ledger/keys.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { keptScopes, managerScopes, scopesOf } from '#schemas/derive/scopes.js'
import { readDuration, readKeyName, readLifetime, readOrg } from '../command/arguments.js'
import { OperatorError } from '../command/operator-error.js'
import { examples, examplesAnd, type Session } from '../command/session.js'
import { wrap } from '../command/table.js'
import { noSuchKey, readKeyId, readScopes, writeScopes } from './keys.js'

type IssueOptions = {
  org?: string
  name?: string
  operator?: boolean
  manage?: boolean
  scopes?: string
  expires?: string
  json?: boolean
}

export const addKeysIssue = (keys: Command, session: Session): void => {
  const scopes = scopesOf(session.catalogue).join(' ')
  keys
    .command('issue')
    .description('make a new API key; an organisation that does not exist yet is created')
    .option('--org <id>', 'the organisation that the key speaks for')
    .option(
      '--operator',
      `a key for an operator, who sees every organisation and issues keys on the console (--org ${operators} unless said)`,
    )
    .option('--name <text>', 'what people call it, for lists: "nightly upload"')
    .option('--scopes <list>', 'what it may do, comma-separated (default: all, types yet to come included)')
    .option('--manage', 'a key that may do everything for its organisation, and makes its other keys: all,keys:manage')
    .option('--expires <duration>', 'how long it lives: 30m, 24h, 90d (default: for ever)')
    .option('--json', 'one line of JSON: key_id, name, key, org, scopes (always a list), expires_at (ISO 8601 or null)')
    .addHelpText('after', examplesAnd(`\n${title}\n${indent(scopes, session.width)}`, ...calls))
    .action((options: IssueOptions) => issue(options, session))
}

const title = 'Scopes (data:write covers every uploaded type, all covers everything but keys:manage):'
const calls = [
  'keys issue --org acme',
  'keys issue --org acme --scopes shops:write,tags:write --expires 90d --json',
  'keys issue --org acme --manage --name "the head of data"',
  'keys issue --operator --expires 30d',
]

const issue = async (options: IssueOptions, session: Session): Promise<void> => {
  const isOperator = options.operator ?? false
  const given = options.org ?? (isOperator ? operators : undefined)
  if (given === undefined)
    throw new OperatorError(
      '--org says whom the key speaks for: "weir keys issue --org acme"; an operator\'s: --operator',
    )
  const org = readOrg(given)
  const scopes = keptScopes(scopesIn(options, session))
  const name = options.name === undefined ? null : readKeyName(options.name)
  const lifetime = options.expires === undefined ? null : readLifetime(options.expires)
  const { keyId, key, isNewOrg, expires_at } = await session.withParts(['pool'], ({ pool }) =>
    inTransaction(pool, (connection) => issueKey(connection, { org, name, scopes, lifetime, isOperator }, commandLine)),
  )

  if (isNewOrg) session.note(`created the organisation ${org}`)
  if (options.json) {
    const made = { key_id: keyId, name, key, org, scopes: writeScopes(scopes, session.catalogue), expires_at }
    session.print(JSON.stringify({ ...made, ...(isOperator && { is_operator: true }) }))
    return
  }
  session.print(key)
  const what = `${isOperator ? 'operator key' : 'key'} ${keyId} for ${org}`
  session.note(`${what}: ${scopes?.join(', ') ?? 'all scopes'}; expires ${expires_at?.toISOString() ?? 'never'}`)
  session.note('Keep it now: only its hash is stored, and it will not be shown again.')
}

const scopesIn = ({ scopes, manage, operator }: IssueOptions, session: Session): readonly string[] | null => {
  if (!manage) return scopes === undefined ? null : readScopes(scopes, session.catalogue)
  if (scopes !== undefined)
    throw new OperatorError('--manage stands for --scopes all,keys:manage: leave one of them out')
  if (operator) throw new OperatorError("an operator's key changes the keys of every organisation: leave --manage out")
  return managerScopes
}

/** Whom an operator's key speaks for, unless said otherwise: an organisation that sends nothing. */
const operators = 'weir-operators'

const indent = (text: string, width: number): string =>
  wrap(text, width - 2)
    .map((line) => `  ${line}`)
    .join('\n')

type RotateOptions = { grace: string; expires?: string; json?: boolean }

export const addKeysRotate = (keys: Command, session: Session): void => {
  keys
    .command('rotate')
    .description('make a new key with the same organisation and scopes, and let the old one run out')
    .argument('<key_id>', 'the key to replace')
    .option('--grace <duration>', 'how long the old key still works; 0 ends it at once', '24h')
    .option('--expires <duration>', 'how long the new key lives (default: as long as the old one was given)')
    .option('--json', 'one line of JSON, as "keys issue" gives, and replaces: {key_id, expires_at} of the old key')
    .addHelpText('after', examples('keys rotate 4fQz81LmXa0B', 'keys rotate 4fQz81LmXa0B --grace 0 --json'))
    .action((given: string, options: RotateOptions) => rotate(given, options, session))
}

const rotate = async (given: string, options: RotateOptions, session: Session): Promise<void> => {
  const grace = readDuration(options.grace)
  const lifetime = options.expires === undefined ? undefined : readLifetime(options.expires)
  const { keyId, key, old, endsAt, expires_at } = await session.withParts(['pool'], ({ pool }) =>
    inTransaction(pool, async (connection) => {
      const old = await lockKey(connection, readKeyId(given))
      if (!old) throw noSuchKey(given)
      const state = stateOf(old, new Date())
      if (state !== 'active')
        throw new OperatorError(`the key ${old.key_id} is ${state}: issue a new one for ${old.org}`)
      const how = { grace, lifetime: lifetime ?? givenLife(old) }
      return { old, ...(await rotateKey(connection, old, how, commandLine)) }
    }),
  )

  if (options.json) {
    const scopes = writeScopes(old.scopes, session.catalogue)
    const replaces = { key_id: old.key_id, expires_at: endsAt }
    session.print(JSON.stringify({ key_id: keyId, name: old.name, key, org: old.org, scopes, expires_at, replaces }))
    return
  }
  session.print(key)
  const ends = grace === 0 ? 'now' : `at ${endsAt.toISOString()}`
  session.note(`key ${keyId} for ${old.org} (expires ${expires_at?.toISOString() ?? 'never'}) replaces ${old.key_id}`)
  session.note(`${old.key_id} ends ${ends}`)
  session.note('Keep it now: only its hash is stored, and it will not be shown again.')
}
