import type { Command } from 'commander'
import { analystPrefix } from '#schemas/derive/analysts.js'
import { examples, type Session } from '../desk/session.js'
import { type Column, toTable } from '../desk/table.js'

type Analyst = { user: string; org: string }

export const addAnalystsList = (analysts: Command, session: Session): void => {
  analysts
    .command('list')
    .description('show the analysts there are')
    .option('--json', 'one line: an array with user, org')
    .addHelpText('after', examples('analysts list'))
    .action((options: { json?: boolean }) => list(options, session))
}

const list = async (options: { json?: boolean }, session: Session): Promise<void> => {
  const { withUsers } = await import('./with-users.js')
  const found = await withUsers(session.config.CLICKHOUSE_URL, (clickhouse) =>
    clickhouse.query<Analyst>(
      `select name as user, substring(name, length({prefix:String}) + 1) as org
      from system.users
      where startsWith(name, {prefix:String})
      order by name`,
      { prefix: analystPrefix },
    ),
  )
  if (options.json) session.print(JSON.stringify(found))
  else if (found.length > 0) session.print(toTable(columns, found, session.width))
  else session.note('no analysts yet: "weir analysts create --org acme" makes one')
}

const columns: Column<Analyst>[] = [
  { title: 'USER', cell: ({ user }) => user },
  { title: 'ORG', cell: ({ org }) => org },
]
