import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type ClickHouse, createClickHouse } from '#platform/clickhouse.js'
import { catalogue } from '#schemas/catalogue.js'
import { keptMarts } from '#schemas/derive/clickhouse/kept.js'
import { marts } from '#schemas/marts/all.js'
import { everything, type From, type Mart } from '#schemas/marts/mart.js'
import { provisionTables } from '../../../services/operator/provision/tables.js'
import { settledAfter } from '../../../services/sink/due-marts.js'
import { createMartKeeper } from '../../../services/sink/keep-marts.js'
import { startEngine } from '../../deploy/embedded/clickhouse/running-engine.js'
import type { OnStarted } from '../system.js'
import { fillSql } from './fill.js'
import { questions } from './questions.js'

/** Milliseconds: of the query over the records themselves, and of the mart. */
export type Asked = { name: string; bare: number; mart: number }

export type MartFigures = {
  transactions: number
  /** What ClickHouse takes for `select 1`: less than this no question can take. */
  least: number
  asked: Asked[]
  /** Seconds to make each mart's rows anew as a whole; and after a thousand transactions have changed. */
  made: { mart: string; whole: number; changed: number }[]
  /** Milliseconds to sum a table of newest versions: with `final`, and without it. */
  final: { table: string; rows: number; withFinal: number; without: number }[]
}

type MartRun = { transactions: number; say: (line: string) => void; onStarted: OnStarted }

const org = 'large'
const times = 5

/** The middle of several: each is asked once before it counts. */
const millisecondsOf = async (work: () => Promise<unknown>, howOften = times): Promise<number> => {
  const took: number[] = []
  for (let n = 0; n <= howOften; n++) {
    const began = performance.now()
    await work()
    if (n > 0) took.push(performance.now() - began)
  }
  return took.sort((a, b) => a - b)[Math.floor(took.length / 2)] ?? Number.NaN
}

/** Fills an engine of its own with a large organisation, and asks what analysts ask: the records themselves, and the marts. */
export const measureMarts = async ({ transactions, say, onStarted }: MartRun): Promise<MartFigures> => {
  const path = await mkdtemp(join(tmpdir(), 'weir-bench-marts-'))
  const engine = await startEngine(path)
  const stop = async () => {
    // It would finish a statement that takes minutes.
    await engine.kill('SIGKILL')
    await rm(path, { recursive: true, force: true })
  }
  onStarted(stop)
  const clickhouse = createClickHouse(engine.ownUrl, { requestTimeout: 1_800_000 })
  try {
    return await measureIn(clickhouse, transactions, say)
  } finally {
    await clickhouse.close()
    await stop()
  }
}

const measureIn = async (
  clickhouse: ClickHouse,
  transactions: number,
  say: (line: string) => void,
): Promise<MartFigures> => {
  await provisionTables(clickhouse, catalogue)
  for (const statement of fillSql(org, transactions)) {
    say(`${statement.split(/\s/)[2]} …`)
    await clickhouse.command(statement)
  }
  await untilSettled(clickhouse, say)
  const keeper = createMartKeeper(clickhouse, catalogue, 1)
  const keepAll = async (isWhole: boolean): Promise<Map<string, number>> => {
    const took = new Map<string, number>()
    for (const mart of keptMarts) {
      const began = performance.now()
      await keeper.keep({ org, mart, isWhole })
      took.set(mart.name, (performance.now() - began) / 1000)
      say(`${mart.name} ${isWhole ? 'made' : 'made anew'} in ${took.get(mart.name)?.toFixed(1)} s`)
    }
    return took
  }
  const whole = await keepAll(true)
  await clickhouse.command(`insert into weir.transactions_log
  (org_id, transaction_id, shop_id, region, student_id, amount, savings, created, version, accepted_at)
select org_id, transaction_id, shop_id, region, student_id, amount, savings, created, 3, now64(3)
from weir.transactions_log where org_id = '${org}' and version = 1 order by transaction_id limit 1000`)
  const changed = await keepAll(false)

  const [{ shop, customer } = { shop: '', customer: '' }] = await clickhouse.query<{ shop: string; customer: string }>(
    `select toString(shop_id) as shop, toString(student_id) as customer from weir.transactions where org_id = '${org}' and student_id is not null limit 1`,
  )
  const ask = (sql: string) => () =>
    clickhouse.query(sql.replaceAll('{shop}', `'${shop}'`).replaceAll('{customer}', `'${customer}'`))
  const asked: Asked[] = []
  for (const { name, mart, sql } of questions) {
    const declared = marts.find((each) => each.name === mart)
    if (!declared) throw new Error(`there is no mart ${mart}`)
    const kept = ask(sql.replace('{mart}', `(select * from weir.${mart} where org_id = '${org}')`))
    const bare = ask(sql.replace('{mart}', `(${ofRecords(declared)})`))
    const figures = { name, bare: await millisecondsOf(bare, 1), mart: await millisecondsOf(kept) }
    say(`${name}: ${figures.bare.toFixed(0)} ms from the records, ${figures.mart.toFixed(0)} ms from the mart`)
    asked.push(figures)
  }
  return {
    transactions,
    least: await millisecondsOf(ask('select 1')),
    asked,
    made: [...whole].map(([mart, seconds]) => ({ mart, whole: seconds, changed: changed.get(mart) ?? Number.NaN })),
    final: await finalOf(clickhouse),
  }
}

/** Until what was filled in no longer counts as changed: else the thousand transactions that change later would be all of them. */
const untilSettled = async (clickhouse: ClickHouse, say: (line: string) => void): Promise<void> => {
  say('waiting until nothing counts as changed …')
  const isSettled = `select max(stored_at) < now64(3) - interval ${settledAfter / 1000} second as settled from weir.changes`
  while (!(await clickhouse.query<{ settled: number }>(isSettled))[0]?.settled) await wait(1000)
}

/** A mart's query over the records; also where it reads another mart. */
const ofRecords = (mart: Mart): string => {
  const from: From = (name) => {
    const other = marts.find((each) => each.name === name)
    return other ? `(${ofRecords(other)})` : `(select * from ${everything(name)} where org_id = '${org}')`
  }
  return `select ${Object.keys(mart.columns).join(', ')} from (${mart.sql(from)})`
}

/** What `final` costs in the tables of newest versions. */
const finalOf = async (clickhouse: ClickHouse): Promise<MartFigures['final']> => {
  const sums = {
    shops_current: 'count(name)',
    customers_current: 'count(region)',
    transactions_current: 'sum(amount_exact)',
  }
  const found: MartFigures['final'] = []
  for (const [table, sum] of Object.entries(sums)) {
    const where = `where org_id = '${org}'`
    const [counted] = await clickhouse.query<{ rows: number }>(
      `select toFloat64(count()) as rows from weir.${table} ${where}`,
    )
    found.push({
      table,
      rows: counted?.rows ?? 0,
      withFinal: await millisecondsOf(() => clickhouse.query(`select ${sum} from weir.${table} final ${where}`)),
      without: await millisecondsOf(() => clickhouse.query(`select ${sum} from weir.${table} ${where}`)),
    })
  }
  return found
}
