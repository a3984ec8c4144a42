import type { Command } from 'commander'
import {
  dropSegment,
  listSegments,
  listSegmentVersions,
  type SegmentVersion,
  setSegment,
} from '#ledger/analytics/segments.js'
import { commandLine } from '#ledger/audit.js'
import { hasOrg } from '#ledger/organisations.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import { reasonOf } from '#platform/health/health.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { membersSql } from '#schemas/derive/clickhouse/segments.js'
import { conditionColumns, conditionFunctions, readCondition } from '#schemas/marts/segments/condition.js'
import { segmentRules } from '#schemas/marts/segments/named.js'
import { readOrg } from '../command/arguments.js'
import { OperatorError } from '../command/operator-error.js'
import { examples, examplesAnd, type Session } from '../command/session.js'
import { type Column, toTable } from '../command/table.js'
import { copySegments } from './copy.js'

/** Segments of an organisation's own. */
export const addSegments = (program: Command, session: Session): void => {
  const segments = program
    .command('segments')
    .description("an organisation's own segments of customers, each with a condition")
  segments
    .command('create')
    .description('make a segment; under a name that is there already, set its condition anew')
    .requiredOption('--org <id>', 'the organisation whose customers they are')
    .requiredOption('--name <name>', 'what it is called: lower-case letters, digits, spaces and _ -')
    .requiredOption('--where <condition>', 'who is in it, such as "amount > 100 and region = \'GB\'"')
    .option('--about <text>', 'what it is for')
    .option('--dry-run', 'only check the condition, and count who would be in it')
    .option('--json', 'one line of JSON: org, segment, version, condition, members')
    .addHelpText(
      'after',
      examplesAnd(
        about,
        `segments create --org acme --name "big spenders" --where "amount > 500 and r >= 4"`,
        `segments create --org acme --name vegans --where "has(tags, 'vegan') and age_band in ('18-20', '21-24')" --dry-run`,
      ),
    )
    .action((options: CreateOptions) => create(options, session))
  segments
    .command('list')
    .description('show the segments there are')
    .option('--org <id>', 'only those of one organisation')
    .option('--json', 'one line: an array with org, segment, version, condition, about, created_at')
    .addHelpText('after', examples('segments list --org acme'))
    .action((options: { org?: string; json?: boolean }) => list(options, session))
  const addOne = (name: string, done: string) =>
    segments
      .command(name)
      .requiredOption('--org <id>', 'the organisation')
      .requiredOption('--name <name>', `the segment that is ${done}`)
  addOne('show', 'shown')
    .description('show every version of a segment')
    .option('--json', 'one line: an array with org, segment, version, condition, about, created_at, dropped_at')
    .addHelpText('after', examples('segments show --org acme --name "big spenders"'))
    .action((options: OneOptions) => show(options, session))
  addOne('drop', 'dropped')
    .description('nobody is in the segment any more; who was in it until now can still be asked')
    .option('--json', 'one line of JSON: org, segment')
    .addHelpText('after', examples('segments drop --org acme --name "big spenders"'))
    .action((options: OneOptions) => drop(options, session))
}

const about = `
The condition is an expression of SQL about one customer. It can use
  the columns ${Object.keys(conditionColumns).join(', ')}
  (docs/marts.md says what each means, under customers_overview and customer_segments);
  and, or, not, in ('…', '…'), between, like, ilike, is null, comparisons, + - * /, interval 30 day;
  the functions ${conditionFunctions.join(', ')}.
A customer who has bought nothing has an empty segment, and 0 for r, f and m.

Who is in it is found soon after it is made, and then once a day:
  select * from weir.segment_members(name = 'big spenders', at = '2026-01-31 12:00:00')
  select * from weir.segment_sizes where segment = 'big spenders'`

type CreateOptions = { org: string; name: string; where: string; about?: string; dryRun?: boolean; json?: boolean }
type OneOptions = { org: string; name: string; json?: boolean }

// Each is looked at once a day: this many take a few minutes of it.
const most = 100

const create = async (options: CreateOptions, session: Session): Promise<void> => {
  const org = readOrg(options.org)
  const segment = readSegmentName(options.name)
  const read = readCondition(options.where)
  if ('problem' in read)
    throw new OperatorError(`${read.problem}: "weir segments create --help" says what may stand in it`)
  const text = readAbout(options.about ?? '')
  await session.withParts(['pool', 'clickhouse'], async ({ pool, clickhouse }) => {
    if (!(await hasOrg(pool, org))) throw noOrg(org)
    const members = await countMembers(clickhouse, org, read.condition)
    const counted = `${members} ${members === 1 ? 'customer' : 'customers'} now`
    if (options.dryRun) {
      if (options.json) session.print(JSON.stringify({ org, segment, condition: read.condition, members }))
      else session.print(`${segment}: ${counted}; nothing was stored`)
      return
    }
    const given = { org, segment, condition: read.condition, about: text }
    const made = await inTransaction(pool, (connection) => setSegment(connection, given, most, commandLine))
    if (!made)
      throw new OperatorError(`${org} has ${most} segments, and cannot have more: "weir segments drop" makes room`)
    await copySegments(clickhouse, [made])
    if (options.json)
      session.print(JSON.stringify({ org, segment, version: made.version, condition: made.condition, members }))
    else session.print(`${segment}, version ${made.version}: ${counted}`)
    session.note(`Soon: select * from weir.segment_members(name = '${segment}', at = toString(now()))`)
  })
}

const countMembers = async (clickhouse: ClickHouse, org: string, condition: string): Promise<number> => {
  try {
    const [found] = await clickhouse.query<{ members: number }>(
      `select toFloat64(count()) as members from (${membersSql(org, condition)})`,
    )
    return found?.members ?? 0
  } catch (error) {
    if (!wrongConditions.has(String((error as { type?: unknown }).type))) throw error
    const [reason = ''] = reasonOf(error).split('\n')
    throw new OperatorError(`ClickHouse cannot use this condition: ${reason.replace(/: (While|In scope) .*/s, '')}`)
  }
}

/** What ClickHouse says of a condition whose words are allowed, and make no sense together. */
const wrongConditions = new Set([
  ...[
    'SYNTAX_ERROR',
    'ILLEGAL_TYPE_OF_ARGUMENT',
    'ILLEGAL_TYPE_OF_COLUMN_FOR_FILTER',
    'TYPE_MISMATCH',
    'NO_COMMON_TYPE',
  ],
  ...['NUMBER_OF_ARGUMENTS_DOESNT_MATCH', 'TOO_FEW_ARGUMENTS_FOR_FUNCTION', 'TOO_MANY_ARGUMENTS_FOR_FUNCTION'],
  ...['CANNOT_PARSE_TEXT', 'CANNOT_PARSE_UUID', 'CANNOT_PARSE_DATE', 'CANNOT_PARSE_DATETIME', 'CANNOT_PARSE_NUMBER'],
  ...['BAD_ARGUMENTS', 'CANNOT_CONVERT_TYPE', 'UNKNOWN_IDENTIFIER', 'ILLEGAL_COLUMN', 'DECIMAL_OVERFLOW'],
  ...['CANNOT_PARSE_INPUT_ASSERTION_FAILED', 'ARGUMENT_OUT_OF_BOUND', 'NOT_IMPLEMENTED', 'UNEXPECTED_AST_STRUCTURE'],
])

const list = async (options: { org?: string; json?: boolean }, session: Session): Promise<void> => {
  const org = options.org === undefined ? null : readOrg(options.org)
  const found = await session.withParts(['pool'], ({ pool }) => listSegments(pool, org))
  if (options.json) session.print(JSON.stringify(found.map(({ dropped_at, ...rest }) => rest)))
  else if (found.length > 0) session.print(toTable(columns, found, session.width))
  else
    session.note(
      `no own segments${org ? ` of ${org}` : ''} yet: "weir segments create --help" says how one is made; ` +
        `those that Weir names are ${segmentRules.map((rule) => rule.segment).join(', ')}`,
    )
}

const columns: Column<SegmentVersion>[] = [
  { title: 'ORG', cell: ({ org }) => org, wraps: true },
  { title: 'SEGMENT', cell: ({ segment }) => segment, wraps: true },
  { title: 'VERSION', cell: ({ version }) => String(version) },
  { title: 'SINCE', cell: ({ created_at }) => created_at.toISOString().slice(0, 16).replace('T', ' ') },
  { title: 'CONDITION', cell: ({ condition }) => condition, wraps: true },
  { title: 'ABOUT', cell: ({ about: text }) => text, wraps: true },
]

const show = async (options: OneOptions, session: Session): Promise<void> => {
  const one = { org: readOrg(options.org), segment: options.name }
  const found = await session.withParts(['pool'], ({ pool }) => listSegmentVersions(pool, one))
  if (found.length === 0) throw noSegment(one.org, one.segment)
  if (options.json) session.print(JSON.stringify(found))
  else session.print(toTable(columns, found, session.width))
  if (found.at(-1)?.dropped_at) session.note('It is dropped: "weir segments create" makes it anew.')
}

const drop = async (options: OneOptions, session: Session): Promise<void> => {
  const org = readOrg(options.org)
  await session.withParts(['pool', 'clickhouse'], async ({ pool, clickhouse }) => {
    const dropped = await inTransaction(pool, (connection) => dropSegment(connection, org, options.name, commandLine))
    // Of an earlier try, Postgres may know what ClickHouse does not.
    const known = await listSegmentVersions(pool, { org, segment: options.name })
    if (known.length === 0) throw noSegment(org, options.name)
    await copySegments(clickhouse, known)
    if (options.json) session.print(JSON.stringify({ org, segment: options.name }))
    else session.print(`${options.name} ${dropped ? 'is dropped' : 'was dropped already'}`)
  })
}

const readSegmentName = (given: string): string => {
  if (segmentRules.some(({ segment }) => segment === given))
    throw new OperatorError(`${given} is the name of one of Weir's own segments: choose another`)
  if (/^[a-z0-9][a-z0-9 _-]{0,62}$/.test(given) && !given.endsWith(' ')) return given
  throw new OperatorError(
    `${JSON.stringify(given)} cannot be a segment's name: use 1 to 63 lower-case letters, digits, spaces, _ and -`,
  )
}

const readAbout = (given: string): string => {
  if (given.length <= 500 && !/\p{Cc}/u.test(given)) return given
  throw new OperatorError('what a segment is for is said in 500 characters at the most, on one line')
}

const noOrg = (org: string) =>
  new OperatorError(`there is no organisation ${org}: "weir orgs list" shows those there are`)
const noSegment = (org: string, name: string) =>
  new OperatorError(`${org} has no own segment ${JSON.stringify(name)}: "weir segments list" shows those there are`)
