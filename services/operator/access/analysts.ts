import { createHash } from 'node:crypto'
import type { Command } from 'commander'
import { randomText } from '#ledger/key-text.js'
import { hasOrg } from '#ledger/organisations.js'
import { analystOf, createAnalystSql, dropAnalystSql } from '#schemas/derive/analysts.js'
import { OperatorError } from '../desk/operator-error.js'
import { examples, type Session } from '../desk/session.js'
import { readOrg } from './read-org.js'

type Options = { org: string; print?: boolean; json?: boolean }

export const addAnalystsCreate = (analysts: Command, session: Session): void => {
  analysts
    .command('create')
    .description("make a ClickHouse user who reads one organisation's rows and nothing else")
    .requiredOption('--org <id>', 'the organisation whose rows the user may read')
    .option('--print', 'only print the SQL, for somebody else to run')
    .option('--json', 'one line of JSON: user, password, org; with --print also sql')
    .addHelpText('after', examples('analysts create --org acme', 'analysts create --org acme --print > acme.sql'))
    .action((options: Options) => create(options, session))
}

const create = async (options: Options, session: Session): Promise<void> => {
  const org = readOrg(options.org)
  const user = analystOf(org)
  // As many random bits as a key has, so that the plain hash which ClickHouse keeps gives nothing away.
  const password = randomText(32)
  const statements = createAnalystSql(session.catalogue, org, createHash('sha256').update(password).digest('hex'))
  const sql = statements.map((statement) => `${statement};\n`).join('')

  if (!options.print) await execute(statements, org, session)
  if (options.json) {
    session.print(JSON.stringify({ user, password, org, ...(options.print && { sql }) }))
    return
  }
  session.print(options.print ? sql.trimEnd() : password)
  session.note(`user ${user} reads the rows of ${org} in the database weir${options.print ? `: ${password}` : ''}`)
  if (options.print)
    session.note("Run it as the ClickHouse user of Weir's services: the policies name whoever runs them.")
  session.note('Keep the password now: only its hash is stored, and it will not be shown again.')
}

const execute = async (statements: string[], org: string, session: Session): Promise<void> => {
  // A mistyped organisation would give a user who sees nothing, and nobody would know why.
  if (!(await session.withPool((pool) => hasOrg(pool, org))))
    throw new OperatorError(`there is no organisation ${org}: "weir orgs list" shows those there are`)
  const { withUsers } = await import('./with-users.js')
  await withUsers(session.config.CLICKHOUSE_URL, async (clickhouse) => {
    const [createUser = '', ...rest] = statements
    await clickhouse.command(createUser)
    try {
      for (const statement of rest) await clickhouse.command(statement)
    } catch (error) {
      // Half an analyst is none: the next try finds a clean place.
      for (const statement of dropAnalystSql(session.catalogue, org)) await clickhouse.command(statement)
      throw error
    }
  })
}
