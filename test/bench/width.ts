// What a record costs when there are one, two and four of each service, on a cluster of test/cluster:
//   node deploy/embedded/run-source.mjs test/bench/width.ts [records of each load]
import { onStopSignal } from '../../deploy/embedded/launcher/stop-signals.js'
import { type Column, toTable } from '../../services/operator/command/table.js'
import { openHosts, startCluster } from '../cluster/start-cluster.js'
import { untilQuiet } from '../support/system/groups.js'
import { startGenerator } from './load/start-generator.js'
import { readProcesses } from './measure/processes.js'
import { makeOrganisations } from './organisations.js'
import { services } from './results.js'

const widths = [1, 2, 4]
// The widest first: nothing that is measured has just been started, since a process is dear until its code is compiled.
const turns = [...widths].reverse()
const connections = 16
const recordsPerRequest = 500
const organisations = 16
const quietWithin = 300_000
const mayRise = 0.1

const records = Number(process.argv[2] ?? 100_000)
const say = (line: string) => process.stderr.write(`${line}\n`)
// As they are by default, and not small as in test/faults; without limits for each key.
const usual = { BATCH_RECORDS: '', VERDICT_TIMEOUT_MS: '', MIN_WAIT_SECONDS: '' }
const unlimited = { RATE_REQUESTS_PER_SECOND: '0', RATE_RECORDS_PER_SECOND: '0', RATE_BYTES_PER_SECOND: '0' }

const network = await openHosts()
if ('whyNot' in network) {
  say(network.whyNot)
  process.exit(1)
}
say('starting a cluster …')
const widest = Math.max(...widths)
const width = { edge: widest, integrity: widest, sink: widest }
const cluster = await startCluster(network, { say, width, env: { ...usual, ...unlimited } })
const generators = Array.from({ length: widest }, startGenerator)
const stop = async (): Promise<void> => {
  for (const generator of generators) generator.stop()
  await cluster.stop()
  await network.close()
}
onStopSignal({ stop: () => void stop().then(() => process.exit(130)), hurry: () => process.exit(130) })

const namesOf = (count: number): string[] =>
  services.flatMap((service) => Array.from({ length: count }, (_, n) => `${service}-${n + 1}`))
let running = namesOf(widest)
const become = async (count: number): Promise<void> => {
  const wanted = namesOf(count)
  for (const name of running.filter((each) => !wanted.includes(each))) await cluster.stopOne(name)
  running = wanted
}

const keys = await makeOrganisations(cluster.addresses.POSTGRES_URL, 'width', organisations)
const load = async (count: number, total: number): Promise<number> => {
  const streams = [{ path: '/v1/data/shops', type: 'shops', recordsPerRequest, connections: connections / count }]
  const sent = await Promise.all(
    generators
      .slice(0, count)
      .map((generator, n) =>
        generator.load({ url: cluster.urlOf(`edge-${n + 1}`), keys, streams, records: total / count }),
      ),
  )
  await untilQuiet(cluster.addresses.KAFKA_BROKERS, quietWithin)
  return sent.reduce((sum, { records: each }) => sum + each, 0)
}

type Spent = { width: number; micros: Record<string, number> }
const spent: Spent[] = []
try {
  await load(widest, records)
  for (const count of turns) {
    await become(count)
    await load(count, records / 5)
    const pids = new Map(running.map((name) => [name, cluster.pidOf(name)]))
    const before = readProcesses(pids)
    const sent = await load(count, records)
    const after = readProcesses(pids)
    const cpuOf = (service: string) =>
      [...pids.keys()]
        .filter((name) => name.startsWith(service))
        .reduce((sum, name) => sum + (after.get(name)?.cpuSeconds ?? 0) - (before.get(name)?.cpuSeconds ?? 0), 0)
    const micros = Object.fromEntries(services.map((service) => [service, (cpuOf(service) / sent) * 1e6]))
    spent.push({ width: count, micros })
    say(
      `${count} of each: ${services.map((service) => `${service} ${micros[service]?.toFixed(1)}`).join(', ')} µs a record`,
    )
  }
} finally {
  await stop()
}

const microsOf = (count: number, service: string): number =>
  spent.find((each) => each.width === count)?.micros[service] ?? 0
const sumOf = (count: number): number => services.reduce((sum, service) => sum + microsOf(count, service), 0)
const columns: Column<number>[] = [
  { title: 'of each', cell: (count) => String(count) },
  ...services.map((service) => ({
    title: `${service} µs`,
    cell: (count: number) => microsOf(count, service).toFixed(1),
  })),
  { title: 'together µs', cell: (count) => sumOf(count).toFixed(1) },
  { title: 'of one', cell: (count) => `${((100 * sumOf(count)) / sumOf(1)).toFixed(0)} %` },
]
process.stdout.write(`${toTable(columns, widths, 120)}\n`)
const rises = widths.some((count) => sumOf(count) > (1 + mayRise) * sumOf(1))
if (rises) say(`a record costs more than ${100 * mayRise} % more with several of each`)
process.exit(rises ? 1 : 0)
