import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { packageRoot } from '#platform/process/package-root.js'
import { questionsIn } from '#schemas/derive/for-analysts/worked-questions.js'
import { makeTables } from '../../support/make-tables.js'
import { sharedParts } from '../../support/shared-parts.js'
import { fillForAnalysts } from './world.js'

// The worked questions of docs/for-analysts.md, asked as they stand there: each gives the answer that the page shows.

const clickhouse = createClickHouse(sharedParts.CLICKHOUSE_URL)
const org = randomUUID()

beforeAll(async () => {
  await makeTables(clickhouse)
  await fillForAnalysts(clickhouse, org)
})
afterAll(() => clickhouse.close())

const page = readFileSync(join(packageRoot, 'docs/for-analysts.md'), 'utf8')
const questions = questionsIn(page).map(({ section, ...question }) => ({ ...question, answer: tableIn(section) }))

it('answers ten questions', () => {
  expect(questions).toHaveLength(10)
})

it.each(questions)('$question', async ({ sql, answer }) => {
  const lines: string[][] = []
  const settings = { readonly: '2', output_format_json_quote_decimals: 1 } as const
  const read = await clickhouse.read(sql.replaceAll("'demo'", `'${org}'`), 'JSONCompactEachRowWithNames', settings)
  for await (const rows of read) lines.push(...rows.map((row) => (JSON.parse(row) as unknown[]).map(toCell)))
  expect(answer.length).toBeGreaterThan(1)
  expect(lines.map((cells, row) => cells.map((cell, at) => (answer[row]?.[at] === '…' ? '…' : cell)))).toEqual(answer)
})

/** The cells of the table in a section: the names of its columns, then its rows. */
function tableIn(section: string): string[][] {
  const lines = section.split('\n').filter((line) => line.startsWith('| '))
  return lines
    .filter((_, at) => at !== 1)
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
}

function toCell(value: unknown): string {
  return value === null ? '–' : String(value)
}
