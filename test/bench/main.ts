// npm run bench: starts the whole system on free ports, loads it, and tells what it did per second and per record.
import { randomUUID } from 'node:crypto'
import { Command } from 'commander'
import { createClickHouse } from '#platform/clickhouse.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { transaction } from '#schemas/records/transaction.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { createUploader } from '../support/system/uploader.js'
import { startWholeSystem } from '../support/system/whole-system.js'
import { toCount } from '../support/to-count.js'
import { latencies, percentile, printTable, type Reading, readProcesses } from './figures.js'
import { interactOrFail, run, uploadOrFail } from './load.js'

const requests = readRequests(process.argv.slice(2))
const recordsPerRequest = 5000
const names = ['edge', 'integrity', 'sink', 'kafka', 'clickhouse'] as const

const say = (line: string) => process.stderr.write(`${line}\n`)

say('starting the system …')
const { system, stop } = await startWholeSystem()
try {
  const uploader = createUploader(system.edgeUrl, system.demoKey)
  const clickhouse = createClickHouse(system.env.CLICKHOUSE_URL)
  const countRows = async (view: string) => {
    const [row] = await clickhouse.query<{ rows: number }>(`select toUInt32(count()) as rows from weir.${view}_log`)
    return row?.rows ?? 0
  }
  const until = (view: string, rows: number) =>
    eventually(async () => {
      if ((await countRows(view)) < rows) throw new Error(`${view}: not all rows are there`)
    }, 300_000)
  const read = () => readProcesses(system.dataDir, names)

  say('warming up …')
  const known = Array.from({ length: recordsPerRequest }, () => sampleOf(shop))
  for (let i = 0; i < 10; i++) await uploadOrFail(uploader, 'shops', known)
  await until('shops', 1)

  say(`one 5000-record upload of shops at a time, ${Math.min(requests, 20)} of them …`)
  const bodies = (count: number, make: () => unknown[]) => Array.from({ length: count }, make)
  const newShops = () => Array.from({ length: recordsPerRequest }, () => sampleOf(shop))
  const alone = bodies(Math.min(requests, 20), newShops)
  const single = latencies(await run(alone.length, 1, (n) => uploadOrFail(uploader, 'shops', alone[n] ?? [])))

  say(`${requests} uploads of 5000 transactions, 4 at a time …`)
  const shopIds = known.map(({ shop_id }) => shop_id)
  const sales = bodies(requests, () =>
    Array.from({ length: recordsPerRequest }, (_, i) =>
      sampleOf(transaction, { shop_id: shopIds[i % shopIds.length] }),
    ),
  )
  const before = read()
  const began = performance.now()
  const took = await run(requests, 4, (n) => uploadOrFail(uploader, 'transactions', sales[n] ?? []))
  const answered = (performance.now() - began) / 1000
  const total = requests * recordsPerRequest
  await until('transactions', total)
  const stored = (performance.now() - began) / 1000
  const after = read()

  say('interactions, 50 at a time; alone, then beside uploads …')
  const view = () =>
    sampleOf(interaction, { student_id: null, item_type: 'SHOP', item_id: shopIds[0], user_id: randomUUID() })
  const interactions = 3000
  await run(300, 50, () => interactOrFail(uploader, view()))
  const beganInteractions = performance.now()
  const quiet = await run(interactions, 50, () => interactOrFail(uploader, view()))
  const interactionSeconds = (performance.now() - beganInteractions) / 1000
  const [beside] = await Promise.all([
    run(interactions, 50, () => interactOrFail(uploader, view())),
    run(12, 2, (n) => uploadOrFail(uploader, 'transactions', sales[n % sales.length] ?? [])),
  ])

  printTable(
    'Uploads of 5000 records',
    ['', 'p50 ms', 'p95 ms', 'p99 ms', 'longest ms'],
    [
      ['shops, one at a time', single.p50, single.p95, single.p99, single.longest],
      ['transactions, 4 at a time', ...Object.values(latencies(took))],
    ],
  )
  printTable(
    'The whole path, transactions',
    ['', 'records/s'],
    [
      ['answered', Math.round(total / answered)],
      ['in ClickHouse', Math.round(total / stored)],
    ],
  )
  printTable(
    'CPU and memory',
    ['', 'µs CPU a record', 'records/s a core', 'MB before', 'MB after'],
    names.map((name) => processRow(name, before, after, total)),
  )
  printTable(
    'Interactions, 50 at a time',
    ['', 'per second', 'p50 ms', 'p95 ms', 'p99 ms', 'longest ms'],
    [
      ['alone', Math.round(interactions / interactionSeconds), ...Object.values(latencies(quiet))],
      ['beside large uploads', '', ...Object.values(latencies(beside))],
      ['ratio of p50', (percentile(beside, 0.5) / percentile(quiet, 0.5)).toFixed(1), '', '', '', ''],
    ],
  )
  await clickhouse.close()
} finally {
  await stop()
}

function processRow(name: string, before: Reading, after: Reading, total: number): (string | number)[] {
  const cpu = (after.get(name)?.cpuSeconds ?? 0) - (before.get(name)?.cpuSeconds ?? 0)
  const micros = (cpu / total) * 1e6
  const memory = (reading: Reading) => reading.get(name)?.megabytes ?? 0
  return [name, micros.toFixed(1), Math.round(1e6 / micros), memory(before), memory(after)]
}

/** The command line of `npm run bench`: how many uploads. Prints its help and ends the process when that is asked for. */
function readRequests(argv: readonly string[]): number {
  return new Command('npm run bench --')
    .description(
      'Starts the whole of Weir on free ports, loads it, and tells what uploads and interactions took, and what a record cost each ' +
        'process. Takes a minute or two; figures can be compared within one run, and between runs on an idle machine.',
    )
    .argument('[uploads]', 'how many uploads of 5000 transactions', toCount, 60)
    .addHelpText(
      'after',
      `
Examples:
  npm run bench
  npm run bench -- 200    longer, for steadier figures`,
    )
    .parse(argv, { from: 'user' }).processedArgs[0]
}
