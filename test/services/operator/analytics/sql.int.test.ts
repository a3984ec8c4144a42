import { writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runWeir } from '../../../support/run-weir.js'
import { sharedParts } from '../../../support/shared-parts.js'

const { CLICKHOUSE_URL } = sharedParts
const sql = (...words: string[]) => runWeir(['sql', ...words], { CLICKHOUSE_URL })

it('shows a table, with a dash for what is null', async () => {
  const { stdout, stderr, exitCode } = await sql(
    "select 18446744073709551615 as most, 'two words' as two, null as none, [1, 2] as list, toDecimal64('0.10', 2) as ten;",
  )
  const lines = [
    'most                  two        none  list   ten',
    '18446744073709551615  two words  –     [1,2]  0.1',
  ]
  expect([stdout, stderr, exitCode]).toEqual([lines.join('\n'), '1 row', 0])
})

it('shows the first thousand rows, and says so', async () => {
  const { stdout, stderr } = await sql('select number from numbers(5000)')
  expect(stdout.split('\n')).toHaveLength(1001)
  expect(stderr).toBe('the first 1000 rows; --csv or --json gives all of them')
})

it('writes all rows as CSV or JSON, also those with line breaks in them, and exact numbers as they are', async () => {
  const query = "select number, 'a\\n\"b\"' as text, toDecimal128('0.100000001', 9) as exact from numbers(3000)"
  const csv = (await sql('--csv', query)).stdout
  expect(csv.split('\n').slice(0, 3)).toEqual(['"number","text","exact"', '0,"a', '""b""",0.100000001'])
  expect(csv.match(/0\.100000001/g)).toHaveLength(3000)
  const json = (await sql('--json', query)).stdout.split('\n')
  expect(json).toHaveLength(3000)
  expect(JSON.parse(json[2999] ?? '')).toEqual({ number: 2999, text: 'a\n"b"', exact: '0.100000001' })
})

it('reads the query from a file', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'weir-sql-')), 'q.sql')
  writeFileSync(file, 'select 7 as seven\n-- the end\n;\n')
  expect((await sql('--file', file, '--json')).stdout).toBe('{"seven":7}')
})

it.each([
  [['create database nope'], 'weir sql only reads'],
  [['select 1 format CSV'], 'leave out the format'],
  [[], 'say what to ask'],
  [[' ; '], 'the query is empty'],
  [['select 1 from system.nowhere'], 'nowhere'],
  [['select 1', '--csv', '--json'], 'not both'],
])('refuses %j: %s', async (words, reason) => {
  const { stdout, stderr, exitCode } = await sql(...words)
  expect([stdout, exitCode]).toEqual(['', 1])
  expect(stderr).toMatch(/^weir: /)
  expect(stderr).toContain(reason)
})
