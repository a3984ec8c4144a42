import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import type { ClickHouse } from '#platform/clickhouse.js'
import { OperatorError } from '../command/operator-error.js'
import { examplesAnd, type Session } from '../command/session.js'
import { toTable } from '../command/table.js'

type Options = { csv?: boolean; json?: boolean; file?: string }

// Rows of a table: nobody reads more in a terminal, and how wide its columns are depends on all of them.
const mostShown = 1000
// It only reads: a statement that would change something is refused by ClickHouse itself. Numbers that JavaScript cannot hold are text.
const readOnly = { readonly: '2', output_format_json_quote_decimals: 1 } as const
const quoted = { ...readOnly, output_format_json_quote_64bit_integers: 1 } as const
const asked = (_: string, reason: string): string => reason
const words = {
  READONLY: () => 'weir sql only reads: this statement would change something',
  UNKNOWN_TABLE: asked,
  UNKNOWN_DATABASE: asked,
}

export const addSql = (program: Command, session: Session): void => {
  program
    .command('sql')
    .argument('[query]', 'what to ask, such as "select * from weir.sales_by_day"')
    .description('ask ClickHouse something: the records, their history and the marts (docs/for-analysts.md)')
    .option('--file <file>', 'read the query from a file')
    .option('--csv', 'all rows as CSV, with the names of the columns in the first line')
    .option('--json', 'all rows, each as one line of JSON; exact numbers as text')
    .addHelpText(
      'after',
      examplesAnd(
        about,
        'sql "select segment, count() from weir.customer_segments group by segment"',
        'sql --file sales.sql --csv > sales.csv',
      ),
    )
    .action((query: string | undefined, options: Options) => ask(query, options, session))
}

const about = `
It only reads. Without --csv or --json a table is shown, of ${mostShown} rows at the most. An analyst uses it with
CLICKHOUSE_URL=https://analyst_acme:<password>@<host>:8443; other parts are not needed.`

const ask = async (given: string | undefined, { file, csv, json }: Options, session: Session): Promise<void> => {
  if (csv && json) throw new OperatorError('--csv or --json: not both')
  const query = toQuery(given, file)
  const work = async ({ clickhouse }: { clickhouse: ClickHouse }): Promise<void> => {
    if (!csv && !json) return showTable(clickhouse, query, session)
    const answer = await clickhouse.read(query, csv ? 'CSVWithNames' : 'JSONEachRow', readOnly)
    for await (const rows of answer) for (const row of rows) session.print(row)
  }
  await session.withParts(['clickhouse'], work, { words })
}

/** The question as ClickHouse takes it, behind which the format is named. */
const toQuery = (given: string | undefined, file: string | undefined): string => {
  if ((given === undefined) === (file === undefined))
    throw new OperatorError('say what to ask, or name a file with --file: weir sql "select 1"')
  const text = file === undefined ? (given ?? '') : readFileSync(file, 'utf8')
  const query = text.replace(/[\s;]+$/, '')
  if (query === '') throw new OperatorError('the query is empty')
  if (/\bformat\s+\w+$/i.test(query)) throw new OperatorError('leave out the format: --csv and --json choose it')
  return query
}

const showTable = async (clickhouse: Pick<ClickHouse, 'read'>, query: string, session: Session): Promise<void> => {
  const answer = await clickhouse.read(query, 'JSONCompactEachRowWithNames', quoted)
  const { lines, isMore } = await take(answer, mostShown + 1)
  const [names = [], ...rows] = lines.map((line) => JSON.parse(line) as unknown[])
  const columns = names.map((title, i) => ({
    title: String(title),
    cell: (row: unknown[]) => toCell(row[i]),
    wraps: true,
  }))
  if (columns.length > 0) session.print(toTable(columns, rows, session.width))
  const counted = rows.length === 1 ? '1 row' : `${rows.length} rows`
  session.note(isMore ? `the first ${counted}; --csv or --json gives all of them` : counted)
}

const toCell = (value: unknown): string =>
  value === null ? '–' : typeof value === 'string' ? value : JSON.stringify(value)

/** The first lines of an answer; the rest is not read. */
const take = async (answer: AsyncIterable<string[]>, most: number): Promise<{ lines: string[]; isMore: boolean }> => {
  const lines: string[] = []
  for await (const some of answer) {
    lines.push(...some)
    if (lines.length > most) return { lines: lines.slice(0, most), isMore: true }
  }
  return { lines, isMore: false }
}
