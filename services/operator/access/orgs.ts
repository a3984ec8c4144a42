import type { Command } from 'commander'
import { commandLine } from '#ledger/audit.js'
import { createOrg, listOrgs, type Organisation, setOrgLimits } from '#ledger/organisations.js'
import { readOrg } from '../command/arguments.js'
import { OperatorError } from '../command/operator-error.js'
import { examples, type Session } from '../command/session.js'
import { type Column, toTable } from '../command/table.js'
import { addOrgsDelete } from './delete-org.js'

/** The organisations that send, and how much each of their keys may send. */
export const addOrgs = (program: Command, session: Session): void => {
  const orgs = program
    .command('orgs')
    .alias('org')
    .description('create, list and delete organisations, and limit what they send')
  orgs
    .command('create')
    .description('create an organisation; creating it again changes nothing')
    .argument('<org>', 'its id: 1 to 63 lower-case letters, digits and hyphens')
    .option('--json', 'one line of JSON: org, created')
    .addHelpText('after', examples('orgs create acme'))
    .action((given: string, options: { json?: boolean }) => create(given, options, session))
  orgs
    .command('list')
    .description('show all organisations')
    .option('--json', 'one line: an array with org, created_at, active_keys, requests_per_second, records_per_second')
    .addHelpText('after', examples('orgs list'))
    .action((options: { json?: boolean }) => list(options, session))
  orgs
    .command('limits')
    .description('set how much each key of an organisation may send to one edge; without options, show it')
    .argument('<org>', 'its id')
    .option('--requests <n>', 'requests a second, 0 for no limit, or "default"')
    .option('--records <n>', 'records a second, 0 for no limit, or "default"')
    .option('--json', 'one line of JSON: org, requests_per_second, records_per_second (null: the default)')
    .addHelpText(
      'after',
      examples('orgs limits acme --requests 50 --records 10000', 'orgs limits acme --records default'),
    )
    .action((given: string, options: LimitOptions) => limit(given, options, session))
  addOrgsDelete(orgs, session)
}

const create = async (given: string, options: { json?: boolean }, session: Session): Promise<void> => {
  const org = readOrg(given)
  const created = await session.withParts(['pool'], ({ pool }) => createOrg(pool, org))
  if (options.json) session.print(JSON.stringify({ org, created }))
  else session.print(`${org} ${created ? 'is created' : 'was already there'}`)
}

const list = async (options: { json?: boolean }, session: Session): Promise<void> => {
  const found = await session.withParts(['pool'], ({ pool }) => listOrgs(pool))
  if (options.json) session.print(JSON.stringify(found))
  else if (found.length > 0) session.print(toTable(columns, found, session.width))
  else session.note('no organisations yet: "weir orgs create acme" makes one')
}

const columns: Column<Organisation>[] = [
  { title: 'ORG', cell: ({ org }) => org, wraps: true },
  { title: 'CREATED', cell: ({ created_at }) => created_at.toISOString().slice(0, 10) },
  { title: 'ACTIVE KEYS', cell: ({ active_keys }) => String(active_keys) },
  { title: 'REQUESTS/S', cell: ({ requests_per_second }) => writeLimit(requests_per_second) },
  { title: 'RECORDS/S', cell: ({ records_per_second }) => writeLimit(records_per_second) },
]

type LimitOptions = { requests?: string; records?: string; json?: boolean }

const limit = async (given: string, options: LimitOptions, session: Session): Promise<void> => {
  const org = readOrg(given)
  const limits = {
    ...(options.requests !== undefined && { requests_per_second: readLimit(options.requests) }),
    ...(options.records !== undefined && { records_per_second: readLimit(options.records) }),
  }
  const now = await session.withParts(['pool'], ({ pool }) => setOrgLimits(pool, org, limits, commandLine))
  if (!now) throw new OperatorError(`there is no organisation ${org}: "weir orgs list" shows those there are`)
  if (options.json) session.print(JSON.stringify({ org, ...now }))
  else
    session.print(
      `each key of ${org}: requests a second ${writeLimit(now.requests_per_second)}, ` +
        `records a second ${writeLimit(now.records_per_second)}`,
    )
}

// What a Postgres integer holds.
const most = 2_147_483_647

/** A whole number; null for the default. */
export const readLimit = (given: string): number | null => {
  if (given === 'default') return null
  if (/^\d{1,10}$/.test(given) && Number(given) <= most) return Number(given)
  throw new OperatorError(`"${given}" is not a limit: write a whole number a second, 0 for no limit, or default`)
}

export const writeLimit = (limit: number | null): string => {
  if (limit === null) return 'default'
  return limit === 0 ? 'no limit' : String(limit)
}
