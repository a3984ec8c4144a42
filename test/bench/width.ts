// What a record costs when there are one, two and four of each service, on a cluster of test/cluster:
//   node deploy/embedded/run-source.mjs test/bench/width.ts [records of each load]
import { onStopSignal } from '../../deploy/embedded/launcher/stop-signals.js'
import { type Column, toTable } from '../../services/operator/command/table.js'
import { openHosts, startCluster } from '../cluster/start-cluster.js'
import { untilQuiet } from '../support/system/groups.js'
import { startGenerator } from './load/start-generator.js'
import { readProcesses } from './measure/processes.js'
import { startYardstick } from './measure/start-yardstick.js'
import { makeOrganisations } from './organisations.js'
import { services } from './results.js'

const widths = [1, 2, 4]
// The widest first: nothing that is measured has just been started, since a process is dear until its code is compiled.
const turns = [...widths].reverse()
/**
 * How many records a request has, and how many connections send such requests. Each size is measured twice: at full speed, and with `perEdge`
 * records a second for each edge, as where instances are added because there is more to upload.
 */
const sizes = [
  { recordsPerRequest: 5000, connections: 8, perEdge: 4000 },
  { recordsPerRequest: 500, connections: 16, perEdge: 2000 },
]
const loads: Size[] = sizes.flatMap(({ perEdge, ...size }) => [size, { ...size, perEdge }])
type Size = { recordsPerRequest: number; connections: number; perEdge?: number }
const organisations = 16
const quietWithin = 300_000
const pacedSeconds = 15
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
const yardstick = startYardstick()
const stop = async (): Promise<void> => {
  for (const generator of generators) generator.stop()
  yardstick.stop()
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
const load = async (count: number, size: Size, total: number): Promise<number> => {
  const { perEdge, ...more } = size
  const streams = [{ path: '/v1/data/shops', type: 'shops', ...more, connections: size.connections / count }]
  const plan = { keys, streams, records: total / count, ...(perEdge && { perSecond: perEdge }) }
  const sent = await Promise.all(
    generators.slice(0, count).map((generator, n) => generator.load({ ...plan, url: cluster.urlOf(`edge-${n + 1}`) })),
  )
  await untilQuiet(cluster.addresses.KAFKA_BROKERS, quietWithin)
  return sent.reduce((sum, { records: each }) => sum + each, 0)
}

/** What a record took each service in CPU, in µs, and what a unit of the yardstick's work took meanwhile. */
type Spent = { width: number; size: Size; micros: Record<string, number>; yardstickMicros: number }
const measure = async (count: number, size: Size): Promise<Spent> => {
  await load(count, size, records / 10)
  const pids = new Map(running.map((name) => [name, cluster.pidOf(name)]))
  const unitTook = await yardstick.begin()
  const before = readProcesses(pids)
  const sent = await load(count, size, size.perEdge ? count * size.perEdge * pacedSeconds : records)
  const after = readProcesses(pids)
  const cpuOf = (service: string) =>
    [...pids.keys()]
      .filter((name) => name.startsWith(service))
      .reduce((sum, name) => sum + (after.get(name)?.cpuSeconds ?? 0) - (before.get(name)?.cpuSeconds ?? 0), 0)
  const micros = Object.fromEntries(services.map((service) => [service, (cpuOf(service) / sent) * 1e6]))
  return { width: count, size, micros, yardstickMicros: await unitTook() }
}

const spent: Spent[] = []
try {
  for (const { perEdge: _, ...size } of sizes) await load(widest, size, records)
  for (const count of turns) {
    await become(count)
    for (const size of loads) {
      const found = await measure(count, size)
      spent.push(found)
      const each = services.map((service) => `${service} ${found.micros[service]?.toFixed(1)}`).join(', ')
      const yard = found.yardstickMicros.toFixed(0)
      say(`${count} of each, ${nameOf(size)}: ${each} µs a record (yardstick ${yard})`)
    }
  }
} finally {
  await stop()
}

function nameOf({ recordsPerRequest, perEdge }: Size): string {
  return `${recordsPerRequest} a request, ${perEdge ? `${perEdge} a second for each edge` : 'all it can'}`
}
// At one speed of the machine: as fast as it was with one of each.
const oneOf = (all: Spent): Spent => spent.find((each) => each.width === 1 && each.size === all.size) ?? all
const microsOf = (all: Spent, service: string): number =>
  ((all.micros[service] ?? 0) * oneOf(all).yardstickMicros) / all.yardstickMicros
const sumOf = (all: Spent): number => services.reduce((sum, service) => sum + microsOf(all, service), 0)
const timesOne = (all: Spent): number => sumOf(all) / sumOf(oneOf(all))
const columns: Column<Spent>[] = [
  { title: 'load', cell: (all) => nameOf(all.size) },
  { title: 'of each', cell: (all) => String(all.width) },
  ...services.map((service) => ({
    title: `${service} µs`,
    cell: (all: Spent) => microsOf(all, service).toFixed(1),
  })),
  { title: 'together µs', cell: (all) => sumOf(all).toFixed(1) },
  { title: 'of one', cell: (all) => `${(100 * timesOne(all)).toFixed(0)} %` },
]
const inOrder = spent.toSorted((a, b) => loads.indexOf(a.size) - loads.indexOf(b.size) || a.width - b.width)
process.stdout.write(`${toTable(columns, inOrder, 120)}\n`)
// At full speed the machine is full with one of each, and all that the others do beside their records is on top.
const rises = spent.some((all) => all.size.perEdge && timesOne(all) > 1 + mayRise)
if (rises) say(`a record costs more than ${100 * mayRise} % more with several of each, each with the same load`)
process.exit(rises ? 1 : 0)
