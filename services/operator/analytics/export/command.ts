import { resolve } from 'node:path'
import type { Command } from 'commander'
import { readAccess } from '#platform/process/access.js'
import { readMoment, readOrg } from '../../command/arguments.js'
import { OperatorError } from '../../command/operator-error.js'
import { count, createProgress, type Progress } from '../../command/progress.js'
import { examplesAnd, type Session } from '../../command/session.js'
import { formatOf } from './format.js'
import { type Exported, type ExportProgress, type ExportRun, filesOf, runExport } from './run.js'
import { type ExportQuestion, sourceOf } from './source.js'

type Options = {
  out?: string
  org?: string
  from?: string
  to?: string
  at?: string
  with?: string[]
  allVersions?: boolean
  restart?: boolean
  json?: boolean
}

// A group of rows in a Parquet file: large enough to be packed and skipped well, small enough for the memory of any reader.
const rowsInPiece = 100_000

export const addExport = (program: Command, session: Session): void => {
  program
    .command('export')
    .argument('<name>', 'a mart or a type of records, such as sales_by_day or transactions')
    .description('write a mart or all records of a type to a file: Parquet, CSV or NDJSON (docs/for-analysts.md)')
    .option('--out <file>', 'the file; its end says the format: .parquet, .csv, .ndjson, .csv.gz, .ndjson.gz')
    .option('--org <id>', 'only the rows of this organisation; without it those of all that this login may read')
    .option('--from <day>', 'from this day (UTC) on, such as 2026-01-01')
    .option('--to <day>', 'up to and with this day')
    .option('--at <moment>', 'the records of a type as they were then: a date, a date-time, or how long ago (24h, 7d)')
    .option('--all-versions', 'every version of every record, with the time in which it was valid')
    .option('--with <name=value...>', 'the values that a mart is asked with')
    .option('--restart', 'forget what an earlier run has written, and begin anew')
    .option('--json', 'say what was written as JSON')
    .addHelpText(
      'after',
      examplesAnd(
        about,
        'export sales_by_day --out sales.parquet --org acme --from 2026-01-01',
        'export transactions --out transactions.parquet',
        'export shops --out shops.csv.gz --at 2026-01-31',
        'export segment_members --out loyal.ndjson --with name=loyal at=2026-01-31',
      ),
    )
    .action((name: string, options: Options) => exportRows(name, options, session))
}

const about = `
A run that was ended, however, goes on where it was when the same command is given again. Until it is complete, the file is called
<file>.part, and <file>.journal stands beside it; --restart begins anew.

The records of a type are those of one moment: of --at, or of when the first run began. A mart shows what is current: its rows are
those of when each piece of ${rowsInPiece} rows or so was read. A day is that of a mart's column day; of records, the day on which they
happened or were created, or else accepted; of versions, the day on which they were accepted.

Like weir sql it only reads, and needs nothing but ClickHouse: CLICKHOUSE_URL=https://analyst_acme:<password>@<host>:8443`

const exportRows = async (name: string, options: Options, session: Session): Promise<void> => {
  if (options.out === undefined) throw new OperatorError('say which file to write, as in --out sales.parquet')
  const file = resolve(session.env.npm_lifecycle_event === 'weir' ? (session.env.INIT_CWD ?? '') : '', options.out)
  const format = formatOf(file)
  const question = readQuestion(name, options)
  const source = sourceOf(question, session.catalogue)
  const report = createReport(session)
  const work = async ({ clickhouse }: Pick<ExportRun, 'clickhouse'>) => {
    const { org = null, from = null, to = null, history = false } = question
    const subject = {
      ...{ name: question.name, format: format.name, server: serverOf(session) },
      ...{ org, from, to, at: options.at ?? null, history },
      ...{ with: question.with, columns: source.columns.map(({ name, type }) => ({ name, type })) },
    }
    const isRestart = options.restart === true
    const run = { clickhouse, source, subject, format, file, at: question.at, isRestart, rowsInPiece }
    const exported = await runExport({ ...run, ...report }).catch((error) => {
      report.broken(filesOf(file).part)
      throw error
    })
    report.done()
    session.print(options.json ? JSON.stringify({ file, ...exported }) : lineOf(file, exported))
  }
  await session.withParts(['clickhouse'], work)
}

const readQuestion = (name: string, options: Options): ExportQuestion => {
  const at = options.at === undefined ? undefined : readMoment(options.at, Date.now(), badMoment(options.at))
  const [from, to] = [readDay('--from', options.from), readDay('--to', options.to)]
  if (from !== undefined && to !== undefined && from > to) throw new OperatorError('--from must not be after --to')
  return {
    ...{ name, from, to, history: options.allVersions },
    org: options.org === undefined ? undefined : readOrg(options.org),
    at: at === undefined ? undefined : new Date(at).toISOString().replace('T', ' ').replace('Z', ''),
    with: Object.fromEntries((options.with ?? []).map(readValue)),
  }
}

const badMoment = (given: string): string =>
  `--at ${JSON.stringify(given)} is no moment: write a date, a date-time, or how long ago, such as 2026-01-31, 2026-01-31T12:00:00Z or 24h`

const readDay = (option: string, given: string | undefined): string | undefined => {
  if (given === undefined) return undefined
  const problem = `${option} ${JSON.stringify(given)} is no day: write it as 2026-01-31`
  if (!/^\d{4}-\d{2}-\d{2}$/.test(given)) throw new OperatorError(problem)
  readMoment(given, 0, problem)
  return given
}

const readValue = (given: string): [string, string] => {
  const equals = given.indexOf('=')
  if (equals < 1) throw new OperatorError(`--with ${JSON.stringify(given)}: write a name and a value, as in name=loyal`)
  return [given.slice(0, equals), given.slice(equals + 1)]
}

/** Whose rows are read, and where: a login may see other rows than another one. */
const serverOf = ({ config }: Session): string => {
  const { host, username, pathname } = new URL(readAccess(config, ['clickhouse']).clickhouse.url)
  return `${username || 'default'}@${host}${pathname.replace(/\/$/, '')}`
}

const createReport = ({ note }: Session) => {
  let progress: Progress | undefined
  let last: ExportProgress | undefined
  return {
    onResume: (before: ExportProgress): void => {
      last = before
      note(`going on behind ${inWords(before)}, of ${before.at} UTC`)
    },
    onProgress: (now: ExportProgress): void => {
      // A single piece is there at once.
      if (now.of > 1) progress ??= createProgress('export', now.of - (last?.pieces ?? 0))
      progress?.advance(1, ` pieces, ${inWords(now)}`)
      last = now
    },
    done: (): void => progress?.end(),
    broken: (part: string): void => {
      if (last) note(`${inWords(last)} are in ${part}: the same command goes on behind them`)
    },
  }
}

const inWords = ({ rows, bytes }: { rows: number; bytes: number }): string =>
  `${count(rows)} ${rows === 1 ? 'row' : 'rows'}, ${toBytes(bytes)}`

const toBytes = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${count(Number((bytes / 1e6).toFixed(1)))} MB`

const lineOf = (file: string, exported: Exported): string => `${file}: ${inWords(exported)}, of ${exported.at} UTC`
