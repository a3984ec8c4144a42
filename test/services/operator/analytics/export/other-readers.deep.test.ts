import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { packageRoot } from '#platform/process/package-root.js'
import { catalogue } from '#schemas/catalogue.js'
import { provisionTables } from '../../../../../services/operator/provision/tables.js'
import { openPythonPackages } from '../../../../docs/python-packages.js'
import { eventually } from '../../../../support/eventually.js'
import { startClickHouseAlone } from '../../../../support/stack.js'

// An export of a size at which it takes a while: ended by SIGKILL again and again, and read by programs of others.

const records = 1_500_000
const folder = await mkdtemp(join(tmpdir(), 'weir-export-'))
const python = await openPythonPackages([
  { page: '', line: 0, language: 'sh', text: 'pip install pyarrow==26.0.1 duckdb==2.0.0\n' },
])
const parts = await startClickHouseAlone()
const clickhouse = createClickHouse(parts.env.CLICKHOUSE_URL)

beforeAll(async () => {
  await provisionTables(clickhouse, catalogue)
  // Amounts that are exact with nine decimals; some students are null, and some transactions have a second version.
  await clickhouse.command(`insert into weir.transactions_log
      (org_id, transaction_id, shop_id, region, amount, savings, student_id, version, accepted_at)
    select 'acme', generateUUIDv4(number), toUUID('00000000-0000-4000-8000-000000000001'), 'GB', number + 0.29, 0,
      if(number % 3 = 0, null, generateUUIDv4(-number)), 1 + number % 2, '2026-01-01 00:00:00'
    from numbers(${records})`)
})
afterAll(async () => {
  await clickhouse.close()
  await parts.stop()
  await rm(folder, { recursive: true, force: true })
})

const file = join(folder, 'transactions.parquet')
const words = ['dist/services/operator/main.js', 'export', 'transactions', '--out', file, '--json']
const start = () => execa(process.execPath, words, { cwd: packageRoot, env: parts.env, reject: false })
const piecesNoted = async (): Promise<number> => {
  const text = await readFile(`${file}.journal`, 'utf8').catch(() => '')
  return text.match(/"end"/g)?.length ?? 0
}

it('goes on after each SIGKILL, and has each row once', async () => {
  for (const kill of [1, 4, 9]) {
    const running = start()
    await eventually(async () => expect(await piecesNoted()).toBeGreaterThanOrEqual(kill), 300_000)
    running.kill('SIGKILL')
    await running
    expect((await readFile(`${file}.journal`, 'utf8')).length).toBeGreaterThan(0)
  }
  const { stdout, stderr, exitCode } = await start()
  expect([exitCode, JSON.parse(stdout)], stderr).toMatchObject([0, { rows: records, resumed: true }])
  expect(stderr).toContain('going on behind')
})

it('is read by pyarrow and duckdb, to the last decimal', async ({ skip }) => {
  if ('whyNot' in python) return skip(python.whyNot)
  const venv = join(folder, randomUUID())
  await execa('python3', ['-m', 'venv', venv])
  await execa(join(venv, 'bin/pip'), ['install', '--quiet', 'pyarrow==26.0.1', 'duckdb==2.0.0'], { env: python.env })
  const program = `
import duckdb, json, pyarrow.parquet as parquet, pyarrow.compute as compute
table = parquet.read_table('${file}')
sums = duckdb.sql("select count(*), count(distinct transaction_id), sum(amount_exact)::varchar, count(student_id) from '${file}'").fetchall()[0]
print(json.dumps([table.num_rows, str(table.schema.field('amount_exact').type), str(table.schema.field('transaction_id').type),
  str(table.schema.field('accepted_at').type), str(compute.sum(table['amount_exact']).as_py()), list(sums)]))
`
  const { stdout } = await execa(join(venv, 'bin/python'), ['-c', program])
  const sum = (BigInt(records) * BigInt(records - 1)) / 2n + (BigInt(records) * 29n) / 100n
  const students = records - Math.ceil(records / 3)
  expect(JSON.parse(stdout)).toEqual([
    ...[records, 'decimal128(38, 9)', 'extension<arrow.uuid>', 'timestamp[ms, tz=UTC]', `${sum}.000000000`],
    [records, records, `${sum}.000000000`, students],
  ])
})
