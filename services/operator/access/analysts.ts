import { createHash, randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { randomText } from '#ledger/key-text.js'
import { hasOrg } from '#ledger/organisations.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import { readAccess } from '#platform/process/access.js'
import type { Catalogue } from '#schemas/catalogue.js'
import {
  type Analyst,
  analystAccessSql,
  analystOf,
  analystPrefix,
  createAnalystSql,
  dropAnalystSql,
  maskedPassword,
  toAnalyst,
} from '#schemas/derive/analysts.js'
import { addSaltSql } from '#schemas/derive/clickhouse/masked.js'
import { oneServer, placementOf } from '#schemas/derive/clickhouse/placement.js'
import { database, maskedDatabase } from '#schemas/derive/names.js'
import { readOrg } from '../command/arguments.js'
import { addressOf } from '../command/ask-servers.js'
import { OperatorError } from '../command/operator-error.js'
import type { Words } from '../command/servers.js'
import { examples, type Session } from '../command/session.js'
import { type Column, toTable } from '../command/table.js'
import { type EmbeddedAnalysts, embeddedAnalysts, isThere } from './embedded-analysts.js'

type Options = { org: string; masked?: boolean; print?: boolean; json?: boolean }

/** The ClickHouse users who read one organisation's rows each. */
export const addAnalysts = (program: Command, session: Session): void => {
  const analysts = program.command('analysts').description('create, list and drop ClickHouse users of one organisation')
  analysts
    .command('create')
    .description("make a ClickHouse user who reads one organisation's rows and nothing else")
    .requiredOption('--org <id>', 'the organisation whose rows the user may read')
    .option('--masked', 'this user sees pseudonyms of persons, and nothing personal')
    .option('--print', 'only print the SQL, for somebody else to run')
    .option('--json', 'one line of JSON: user, password, org, masked; with --print also sql')
    .addHelpText(
      'after',
      examples(
        'analysts create --org acme',
        'analysts create --org acme --masked',
        'analysts create --org acme --print > acme.sql',
      ),
    )
    .action((options: Options) => create(options, session))
  analysts
    .command('list')
    .description('show the analysts there are')
    .option('--json', 'one line: an array with user, org, masked')
    .addHelpText('after', examples('analysts list'))
    .action((options: { json?: boolean }) => list(options, session))
  const addChange = (name: string, done: string) =>
    analysts
      .command(name)
      .requiredOption('--org <id>', `the organisation whose analyst is ${done}`)
      .option('--masked', 'the one who sees nothing personal')
      .option('--print', 'only print the SQL, for somebody else to run')
      .option('--json', 'one line of JSON: user, org, masked; with --print also sql')
  addChange('update', 'updated')
    .description('show an analyst the tables that came with a newer Weir; "weir provision" does so for those it finds')
    .addHelpText('after', examples('analysts update --org acme', 'analysts update --org acme --print > acme.sql'))
    .action((options: Options) => update(options, session))
  addChange('drop', 'removed')
    .description("remove an organisation's analyst; where there is none, nothing changes")
    .addHelpText('after', examples('analysts drop --org acme'))
    .action((options: Options) => drop(options, session))
}

const create = async (options: Options, session: Session): Promise<void> => {
  const analyst = toAnalyst(analystOf(readOrg(options.org), options.masked))
  const { user, org, masked } = analyst
  const placed = placedIn(session)
  if (masked && placed !== oneServer)
    throw new OperatorError(
      'there are no masked analysts on a cluster: its servers would ask each other as the analyst, who may not read the tables',
    )
  // As many random bits as a key has, so that the plain hash which ClickHouse keeps gives nothing away.
  const password = `${masked ? maskedPassword : ''}${randomText(32)}`
  const hash = createHash('sha256').update(password).digest('hex')
  const salt = saltOf(analyst)
  const statements = createAnalystSql(session.catalogue, org, hash, placed, masked)
  const sql = toSql([...salt, ...statements])

  if (!options.print) await execute({ analyst, salt, statements, hash }, session)
  if (options.json) {
    session.print(JSON.stringify({ ...analyst, password, ...(options.print && { sql }) }))
    return
  }
  session.print(options.print ? sql.trimEnd() : password)
  session.note(`user ${user} reads ${whatIsRead(analyst)}${options.print ? `: ${password}` : ''}`)
  if (options.print)
    session.note("Run it as the ClickHouse user of Weir's services: the policies name the user who runs them.")
  session.note('Keep the password now: only its hash is stored, and it will not be shown again.')
}

/** What keeps a secret for pseudonyms, where the organisation has none. */
const saltOf = ({ org, masked }: Analyst): string[] =>
  masked ? [addSaltSql(org, [randomBytes(8).readBigUInt64LE(), randomBytes(8).readBigUInt64LE()])] : []

const whatIsRead = ({ org, masked }: Analyst): string =>
  `the rows of ${org} in the database ${masked ? `${maskedDatabase}, with persons masked` : database}`

type New = { analyst: Analyst; salt: string[]; statements: string[]; hash: string }

const execute = async ({ analyst, salt, statements, hash }: New, session: Session): Promise<void> => {
  const { org, masked } = analyst
  // A mistyped organisation would give a user who sees nothing, without a word why.
  if (!(await session.withParts(['pool'], ({ pool }) => hasOrg(pool, org))))
    throw new OperatorError(`there is no organisation ${org}: "weir orgs list" shows those there are`)
  const addEmbedded = async (analysts: EmbeddedAnalysts, clickhouse: ClickHouse): Promise<void> => {
    await runAll(clickhouse, salt)
    await analysts.add(analyst, hash)
    if (await analysts.isOpen())
      session.note(
        'The user default still reads the rows of every organisation without a password: set CLICKHOUSE_PASSWORD.',
      )
  }
  const addOnServer = async (clickhouse: ClickHouse): Promise<void> => {
    const [createUser = '', ...rest] = statements
    await runAll(clickhouse, salt)
    await clickhouse.command(createUser)
    try {
      await runAll(clickhouse, rest)
    } catch (error) {
      // A user without all policies is removed again, so that the next try does not find it in its way.
      await runAll(clickhouse, dropAnalystSql(session.catalogue, org, placementOf(clickhouse), masked))
      throw error
    }
  }
  await withUsers(session, addEmbedded, addOnServer, { ACCESS_ENTITY_ALREADY_EXISTS: () => isThere(analyst) })
}

const list = async (options: { json?: boolean }, session: Session): Promise<void> => {
  const found = await withUsers(session, (analysts) => analysts.list(), findAnalysts)
  if (options.json) session.print(JSON.stringify(found))
  else if (found.length > 0) session.print(toTable(columns, found, session.width))
  else session.note('no analysts yet: "weir analysts create --org acme" makes one')
}

const findAnalysts = async (clickhouse: ClickHouse): Promise<Analyst[]> => {
  const found = await clickhouse.query<{ name: string }>(
    'select name from system.users where startsWith(name, {prefix:String}) order by name',
    { prefix: analystPrefix },
  )
  return found.map(({ name }) => toAnalyst(name))
}

/** Lets analysts read tables that are new, or views of theirs would fail. Undefined where this user may not look. */
export const updateAnalysts = async (clickhouse: ClickHouse, catalogue: Catalogue): Promise<number | undefined> => {
  if (!(await hasUsers(clickhouse))) return 0
  const analysts = await findAnalysts(clickhouse).catch((error: { type?: string }) => {
    if (error.type === 'ACCESS_DENIED') return undefined
    throw error
  })
  if (!analysts) return undefined
  const placed = placementOf(clickhouse)
  for (const { org, masked } of analysts) await runAll(clickhouse, analystAccessSql(catalogue, org, placed, masked))
  return analysts.length
}

const runAll = async (clickhouse: ClickHouse, statements: readonly string[]): Promise<void> => {
  for (const statement of statements) await clickhouse.command(statement)
}

const update = (options: Options, session: Session): Promise<void> =>
  change(options, session, {
    statementsFor: analystAccessSql,
    before: saltOf,
    // On the embedded engine they read every table, also those that came later.
    embedded: async () => undefined,
    done: (analyst) => `${analyst.user} reads ${whatIsRead(analyst)}`,
  })

const columns: Column<Analyst>[] = [
  { title: 'USER', cell: ({ user }) => user },
  { title: 'ORG', cell: ({ org }) => org },
  { title: 'PERSONS', cell: ({ masked }) => (masked ? 'masked' : 'shown') },
]

const drop = (options: Options, session: Session): Promise<void> =>
  change(options, session, {
    statementsFor: dropAnalystSql,
    embedded: (analysts, analyst) => analysts.drop(analyst),
    done: ({ user }) => `${user} is gone`,
  })

/** The logins of an organisation that goes; nothing where there is none. */
export const dropAnalysts = (session: Session, org: string): Promise<void> => {
  const statements = [false, true].flatMap((masked) =>
    dropAnalystSql(session.catalogue, org, placedIn(session), masked),
  )
  return withUsers(
    session,
    async (analysts) => {
      for (const masked of [false, true]) await analysts.drop({ org, masked })
    },
    (clickhouse) => runAll(clickhouse, statements),
  )
}

type Change = {
  statementsFor: typeof analystAccessSql
  /** What is run first, on the embedded engine too. */
  before?: (analyst: Analyst) => string[]
  embedded: (analysts: EmbeddedAnalysts, analyst: Analyst) => Promise<void>
  done: (analyst: Analyst) => string
}

/** Runs what changes an analyst, or prints it. */
const change = async (
  options: Options,
  session: Session,
  { statementsFor, before = () => [], embedded, done }: Change,
): Promise<void> => {
  const analyst = toAnalyst(analystOf(readOrg(options.org), options.masked))
  const first = before(analyst)
  const statements = [...first, ...statementsFor(session.catalogue, analyst.org, placedIn(session), analyst.masked)]
  const sql = toSql(statements)
  if (!options.print)
    await withUsers(
      session,
      async (analysts, clickhouse) => {
        await runAll(clickhouse, first)
        await embedded(analysts, analyst)
      },
      (clickhouse) => runAll(clickhouse, statements),
    )
  if (options.json) session.print(JSON.stringify({ ...analyst, ...(options.print && { sql }) }))
  else session.print(options.print ? sql.trimEnd() : done(analyst))
}

const placedIn = ({ config }: Session) => placementOf({ cluster: config.CLICKHOUSE_CLUSTER })

const toSql = (statements: readonly string[]): string => statements.map((statement) => `${statement};\n`).join('')

/** Whether users can be kept: a directory other than the file of settings has to be there for them. */
const hasUsers = async (clickhouse: ClickHouse): Promise<boolean> =>
  (await clickhouse.query(`select name from system.user_directories where type not like 'users%xml'`)).length > 0

/** Does the work on the embedded engine, or on a server that can keep users. */
const withUsers = <T>(
  session: Session,
  onEmbedded: (analysts: EmbeddedAnalysts, clickhouse: ClickHouse) => Promise<T>,
  onServer: (clickhouse: ClickHouse) => Promise<T>,
  more: Words = {},
): Promise<T> =>
  session.withParts(
    ['clickhouse'],
    async ({ clickhouse }) => {
      if (await hasUsers(clickhouse)) return onServer(clickhouse)
      const embedded = embeddedAnalysts(readAccess(session.config, ['clickhouse']).clickhouse.url)
      if (await embedded.areThere()) return onEmbedded(embedded, clickhouse)
      throw new OperatorError(
        `ClickHouse at ${addressOf(session.config.CLICKHOUSE_URL)} has users in its files of settings only: ` +
          'give it a directory for others (user_directories), or let --print show the SQL',
      )
    },
    { requestTimeout: 30_000, words: { ...words, ...more } },
  )

const words: Words = {
  AWAY: (address, reason) => `ClickHouse does not answer at ${address} (${reason}): CLICKHOUSE_URL says where it is`,
  ACCESS_DENIED: (address, reason) =>
    `ClickHouse at ${address} does not let this user manage others (${reason}): ` +
    'name one with access management in CLICKHOUSE_URL, or let --print show the SQL',
}
