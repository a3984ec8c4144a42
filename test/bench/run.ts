import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { packageRoot } from '#platform/process/package-root.js'
import { type Floors, startFloors } from './floors/start-floors.js'
import { measureGrowth } from './growth.js'
import type { LoadPlan, Stream } from './load/plan.js'
import { startGenerator } from './load/start-generator.js'
import { latenciesOf } from './measure/figures.js'
import { createMeter } from './measure/meter.js'
import { bytesOnDisk } from './measure/processes.js'
import { makeOrganisations } from './organisations.js'
import { atOneSpeed, cpuOf, type Measured, type Results, services } from './results.js'
import { type Bench, lineOf, type OnStarted, withSystem } from './system.js'
import {
  type Form,
  flood,
  floorLoads,
  forms,
  halfLoadOf,
  held,
  inOrder,
  knownRecords,
  noisy,
  quiet,
  throughput,
  throughputOrganisations,
  type Workload,
  waiting,
  warmTurns,
  warmUps,
  workloads,
} from './workloads.js'

export type RunOptions = {
  form: 'short' | 'full'
  /** To how many records the growth goes; undefined where it is not measured. */
  growTo: number | undefined
  say: (line: string) => void
  onStarted: OnStarted
}

/** Runs the bench from an empty system on; everything that it starts is stopped again. */
export const runBench = async ({ form, growTo, say, onStarted }: RunOptions): Promise<Results> => {
  const began = Date.now()
  const start = form === 'full' ? await measureStart({ say, onStarted }) : undefined
  const found = await withSystem({ say, onStarted }, async (bench) => {
    const floors = await startFloors(bench.system.env.KAFKA_BROKERS)
    try {
      return await measureAll(bench, floors, forms[form])
    } finally {
      floors.stop()
    }
  })
  const flooded = form === 'full' ? await withSystem({ say, onStarted }, measureFlood) : undefined
  const growth =
    growTo === undefined ? undefined : await withSystem({ say, onStarted }, (bench) => measureGrowth(bench, growTo))
  return {
    at: new Date(began).toISOString(),
    form,
    commit: commitOf(),
    machine: {
      cores: availableParallelism(),
      model: cpus()[0]?.model ?? 'unknown',
      gigabytes: Math.round(totalmem() / 2 ** 30),
      node: process.version,
    },
    ...found,
    ...(flooded ? { flood: flooded } : {}),
    ...(start ? { start } : {}),
    ...(growth ? { growth } : {}),
    seconds: Math.round((Date.now() - began) / 1000),
  }
}

const measureAll = async (
  { system, generator, yardstick, clickhouse, pids, meter, say }: Bench,
  floors: Floors,
  { seconds, leastRecords, warmSeconds, roundTrips, turns, turnSeconds }: Form,
): Promise<Pick<Results, 'floors' | 'workloads' | 'halfLoad' | 'paced' | 'neighbour' | 'bytesOnDisk'>> => {
  const weir = { url: system.edgeUrl, keys: [system.demoKey] }
  const bare = { url: floors.url, keys: ['none'] }
  /** Requests of a few records are many; of interactions there are never so many. */
  const lasting = ([stream]: readonly Stream[]) => ({
    seconds,
    leastRecords: (stream?.recordsPerRequest ?? 0) >= 500 ? leastRecords : 0,
  })
  const all: Measured[] = []
  const measure = async ({ name, ...load }: Workload, more: Partial<LoadPlan> = {}) => {
    const measured = await meter.measure(name, { ...weir, ...load, ...lasting(load.streams), ...more })
    all.push(measured)
    say(lineOf(measured))
    return measured
  }
  const measureFloor = async ({ name, ...load }: Workload, more: Partial<LoadPlan> = {}) => {
    const measured = await floorMeter.measureFloor(name, { ...bare, ...load, ...lasting(load.streams), ...more })
    say(lineOf(measured))
    return measured
  }
  const floorMeter = createMeter({
    generator,
    clickhouse,
    brokers: system.env.KAFKA_BROKERS,
    pids: new Map([...pids, ['floors', floors.pid]]),
    yardstick,
  })

  say('uploading what others refer to, and warming up …')
  for (const [type, count] of knownRecords)
    await generator.know({ type, count, url: system.edgeUrl, key: system.demoKey })
  for (const { streams } of [...floorLoads.naive, floorLoads.floor, floorLoads.interaction])
    await generator.load({ ...bare, streams, seconds: warmSeconds / 2 })
  await byTurns(warmTurns, warmUps, ({ name, ...load }) =>
    meter.measure(name, { ...weir, ...load, seconds: warmSeconds }),
  )

  const keys = await makeOrganisations(system.env.POSTGRES_URL, 'throughput', throughputOrganisations)
  const inTurn = { seconds: turnSeconds }
  const turned = await byTurns(turns, [...floorLoads.naive, ...held], (load) =>
    held.includes(load)
      ? measure(load, { ...inTurn, ...(load === throughput && { keys }) })
      : measureFloor(load, inTurn),
  )
  const naive = turned.slice(0, floorLoads.naive.length).flat()
  const middleOfHeld = new Map(turned.slice(floorLoads.naive.length).map((found) => [found[0]?.name, middleOf(found)]))
  const floor = await measureFloor(floorLoads.floor)
  const interaction = await measureFloor(floorLoads.interaction)
  const roundTrip = latenciesOf(await floors.roundTrips(roundTrips))
  say(`bare round trip through Kafka: ${roundTrip.p50} ms`)

  const diskBefore = diskOf(system.dataDir)
  const before = all.length
  const measured: Measured[] = []
  for (const workload of workloads) measured.push(middleOfHeld.get(workload.name) ?? (await measure(workload)))
  const fullSpeed = await byTurns(turns, [inOrder, waiting], (load) => measure(load, inTurn))
  measured.push(...fullSpeed.map(middleOf))
  const wide = middleOfHeld.get(throughput.name)
  if (wide) measured.push(wide)
  const halfOf = ({ name }: Workload) => (measured.find((each) => each.name === name)?.storedPerSecond ?? 0) / 2
  const halfLoad = await measure(
    { ...halfLoadOf, name: 'half load' },
    { perSecond: halfOf(halfLoadOf), leastRecords: 0 },
  )
  // At full speed the one that takes more of the machine is slower, and all that a second costs would count for fewer records.
  const pace = { perSecond: halfOf(inOrder), leastRecords: 0, seconds: turnSeconds }
  const pacedLoads = [
    { ...inOrder, name: 'in order, paced' },
    { ...waiting, name: 'a tenth waits, paced' },
  ]
  const [ordered = [], waited = []] = await byTurns(turns, pacedLoads, (load) => measure(load, pace))
  const bytesOnDisk = diskPerRecord(diskBefore, diskOf(system.dataDir), all.slice(before))
  const neighbour = await measureNeighbour(weir, keys, seconds)
  say(`beside a flood, p50 of a small request: ${neighbour.beside.p50} ms; alone: ${neighbour.alone.p50} ms`)
  const steady = (load: Measured) => atOneSpeed([...all, ...naive], load)
  return {
    floors: { naive: naive.map(steady), floor: steady(floor), interaction: steady(interaction), roundTrip },
    workloads: measured.map(steady),
    halfLoad: steady(halfLoad),
    paced: { inOrder: steady(middleOf(ordered)), waiting: steady(middleOf(waited)) },
    neighbour,
    bytesOnDisk,
  }
}

/** What an organisation that sends little notices of one that sends all it can. */
const measureNeighbour = async (
  { url, keys }: Pick<LoadPlan, 'url' | 'keys'>,
  noisyKeys: readonly string[],
  seconds: number,
): Promise<NonNullable<Results['neighbour']>> => {
  const [one, other] = [startGenerator(), startGenerator()]
  try {
    const little = () => one.load({ url, keys, ...quiet, seconds })
    const { took: alone } = await little()
    const flooding = other.load({ url, keys: noisyKeys.slice(0, 1), ...noisy, seconds: 2 * seconds })
    await wait((seconds * 1000) / 4)
    const { took: beside } = await little()
    await flooding
    return { alone, beside }
  } finally {
    one.stop()
    other.stop()
  }
}

/** Measures each of these loads so many times, one after the other, so that a machine which is slow for a while is slow for all. */
const byTurns = async (
  turns: number,
  loads: readonly Workload[],
  measure: (load: Workload) => Promise<Measured>,
): Promise<Measured[][]> => {
  const found = loads.map((): Measured[] => [])
  for (let turn = 0; turn < turns; turn++)
    for (const [index, load] of loads.entries()) found[index]?.push(await measure(load))
  return found
}

/** Of several turns, the one in the middle, by what a record took at the machine's speed of the time. */
const middleOf = (measured: readonly Measured[]): Measured => {
  const price = (load: Measured) => cpuOf(load, ...services) / load.yardstickMicros
  const middle = measured.toSorted((a, b) => price(a) - price(b))[Math.floor((measured.length - 1) / 2)]
  if (!middle) throw new Error('nothing was measured')
  return middle
}

/** How long the second start on the same data takes. The first one makes topics, tables and a database. */
const measureStart = async ({
  say,
  onStarted,
}: Pick<RunOptions, 'say' | 'onStarted'>): Promise<{ seconds: number }> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-bench-'))
  const remove = () => rm(dataDir, { recursive: true, force: true })
  onStarted(remove)
  try {
    await withSystem({ dataDir, say, onStarted }, async () => {})
    const began = performance.now()
    const seconds = await withSystem({ dataDir, say, onStarted }, async () => (performance.now() - began) / 1000)
    say(`the second start took ${seconds.toFixed(1)} s`)
    return { seconds: Math.round(seconds * 10) / 10 }
  } finally {
    await remove()
  }
}

/** More uploads at once than there is room for: what counts is the edge's memory. Many are told to come again, as they should. */
const measureFlood = async ({ system, meter, say }: Bench): Promise<Measured> => {
  const plan = { url: system.edgeUrl, keys: [system.demoKey], streams: flood.streams, seconds: forms.full.seconds }
  const measured = await meter.measure(flood.name, plan)
  say(lineOf(measured))
  return measured
}

const diskOf = (dataDir: string): Map<string, number> =>
  new Map(['kafka', 'postgres', 'clickhouse'].map((part) => [part, bytesOnDisk(join(dataDir, part))]))

const diskPerRecord = (before: Map<string, number>, after: Map<string, number>, all: Measured[]) => {
  const records = all.reduce((sum, each) => sum + each.records, 0)
  return Object.fromEntries(
    [...after].map(([part, bytes]) => [part, Math.round((bytes - (before.get(part) ?? 0)) / records)]),
  )
}

const commitOf = (): string => {
  try {
    const git = (...words: string[]) => execFileSync('git', words, { cwd: packageRoot, encoding: 'utf8' }).trim()
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '-uno') === '' ? '' : ' and changes')
  } catch {
    // A copy without its history.
    return 'unknown'
  }
}
