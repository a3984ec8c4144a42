import type { Command } from 'commander'
import { analystOf, dropAnalystSql } from '#schemas/derive/analysts.js'
import { examples, type Session } from '../desk/session.js'
import { readOrg } from './read-org.js'

type Options = { org: string; print?: boolean; json?: boolean }

export const addAnalystsDrop = (analysts: Command, session: Session): void => {
  analysts
    .command('drop')
    .description("take an organisation's analyst away; one who is not there changes nothing")
    .requiredOption('--org <id>', 'the organisation whose analyst goes')
    .option('--print', 'only print the SQL, for somebody else to run')
    .option('--json', 'one line of JSON: user, org; with --print also sql')
    .addHelpText('after', examples('analysts drop --org acme'))
    .action((options: Options) => drop(options, session))
}

const drop = async (options: Options, session: Session): Promise<void> => {
  const org = readOrg(options.org)
  const user = analystOf(org)
  const statements = dropAnalystSql(session.catalogue, org)
  const sql = statements.map((statement) => `${statement};\n`).join('')
  if (!options.print) {
    const { withUsers } = await import('./with-users.js')
    await withUsers(session.config.CLICKHOUSE_URL, async (clickhouse) => {
      for (const statement of statements) await clickhouse.command(statement)
    })
  }
  if (options.json) session.print(JSON.stringify({ user, org, ...(options.print && { sql }) }))
  else session.print(options.print ? sql.trimEnd() : `${user} is gone`)
}
