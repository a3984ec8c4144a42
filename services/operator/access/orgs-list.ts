import type { Command } from 'commander'
import { listOrgs, type Organisation } from '#ledger/organisations.js'
import { examples, type Session } from '../desk/session.js'
import { type Column, toTable } from '../desk/table.js'
import { writeLimit } from './orgs.js'

export const addOrgsList = (orgs: Command, session: Session): void => {
  orgs
    .command('list')
    .description('show all organisations')
    .option('--json', 'one line: an array with org, created_at, active_keys, requests_per_second, records_per_second')
    .addHelpText('after', examples('orgs list'))
    .action(async (options: { json?: boolean }) => {
      const found = await session.withPool(listOrgs)
      if (options.json) session.print(JSON.stringify(found))
      else if (found.length > 0) session.print(toTable(columns, found, session.width))
      else session.note('no organisations yet: "weir orgs create acme" makes one')
    })
}

const columns: Column<Organisation>[] = [
  { title: 'ORG', cell: ({ org }) => org, wraps: true },
  { title: 'CREATED', cell: ({ created_at }) => created_at.toISOString().slice(0, 10) },
  { title: 'ACTIVE KEYS', cell: ({ active_keys }) => String(active_keys) },
  { title: 'REQUESTS/S', cell: ({ requests_per_second }) => writeLimit(requests_per_second) },
  { title: 'RECORDS/S', cell: ({ records_per_second }) => writeLimit(records_per_second) },
]
