import { loadavg } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import type { ClickHouse } from '#platform/clickhouse.js'
import { groupBy } from '#platform/group-by.js'
import { catalogue } from '#schemas/catalogue.js'
import { rejectionsLog } from '#schemas/derive/names.js'
import { untilQuiet } from '../../support/system/groups.js'
import { logOf } from '../load/bodies.js'
import type { Answered, LoadPlan, LoadResult } from '../load/plan.js'
import type { Generator } from '../load/start-generator.js'
import type { Measured, Usage } from '../results.js'
import { latenciesOf } from './figures.js'
import { readMachine, readProcesses, residentMegabytes, type Spent } from './processes.js'
import type { Yardstick } from './start-yardstick.js'

export type Meter = {
  /** Sends a load, waits until all of it is in ClickHouse, and says what it took. */
  measure: (name: string, plan: LoadPlan) => Promise<Measured>
  /** The same for a floor, which ends with the last answer. */
  measureFloor: (name: string, plan: LoadPlan) => Promise<Measured>
  /** Waits until the machine has little to do: after much was written, Postgres and ClickHouse tidy up for a while. */
  untilCalm: () => Promise<void>
}

const lookEveryMs = 100
const peakEveryMs = 250
const storedWithinMs = 300_000
const quietWithinMs = 300_000
const calmForMs = 3_000
const calmCores = 0.3
const calmWithinMs = 300_000

export const createMeter = (deps: {
  generator: Generator
  clickhouse: ClickHouse
  brokers: string
  /** The processes to look at, by name. */
  pids: ReadonlyMap<string, number>
  yardstick: Yardstick
}): Meter => {
  const { generator, clickhouse, brokers, pids, yardstick } = deps

  const measured = async (
    name: string,
    plan: LoadPlan,
    send: (onBegan: () => void) => Promise<Sent>,
  ): Promise<Measured> => {
    // What an earlier load left to do would count for this one.
    await untilQuiet(brokers, quietWithinMs)
    const peaks = watchPeaks(pids)
    const unitTook = await yardstick.begin()
    let before = readAll(pids)
    let began = performance.now()
    const { result, freshness } = await send(() => {
      before = readAll(pids)
      began = performance.now()
    })
    const seconds = (performance.now() - began) / 1000
    const after = readAll(pids)
    const yardstickMicros = round(await unitTook())
    const ours = after.bench.cpuSeconds - before.bench.cpuSeconds
    const [first] = plan.streams
    return {
      name,
      type: plan.streams.length === 1 ? (first?.type ?? '') : 'mixed',
      recordsPerRequest: first?.recordsPerRequest ?? 0,
      connections: plan.streams.reduce((sum, { connections }) => sum + connections, 0),
      requests: result.requests,
      records: result.records,
      refused: result.refused,
      answeredPerSecond: Math.round(result.records / result.seconds),
      storedPerSecond: Math.round(result.records / seconds),
      took: result.took,
      ...(freshness.length > 0 ? { freshness: latenciesOf(freshness) } : {}),
      processes: usages(before.each, after.each, peaks.stop(), result.records),
      yardstickMicros,
      othersCores: round(Math.max(0, after.machine - before.machine - ours) / seconds),
      loadAverage: round(loadavg()[0] ?? 0),
      statuses: result.statuses,
      ...(result.problem === undefined ? {} : { problem: result.problem }),
    }
  }

  return {
    measure: (name, plan) => measured(name, plan, (onBegan) => sendAndWatch({ plan, generator, clickhouse, onBegan })),
    measureFloor: (name, plan) =>
      measured(name, plan, async (onBegan) => ({ result: await generator.load(plan, { onBegan }), freshness: [] })),
    untilCalm: async () => {
      await untilQuiet(brokers, quietWithinMs)
      for (const deadline = Date.now() + calmWithinMs; Date.now() < deadline; ) {
        const before = readMachine()
        await wait(calmForMs)
        if ((readMachine() - before) / (calmForMs / 1000) < calmCores) return
      }
      throw new Error(`something kept this machine busy for ${calmWithinMs / 1000} s after the load; see top`)
    },
  }
}

type Sent = { result: LoadResult; freshness: number[] }

/** Sends a load and looks for its records in ClickHouse until all are there. */
const sendAndWatch = async ({
  plan,
  generator,
  clickhouse,
  onBegan,
}: {
  plan: LoadPlan
  generator: Generator
  clickhouse: ClickHouse
  onBegan: () => void
}): Promise<Sent> => {
  const types = [...new Set(plan.streams.map(({ type }) => type))]
  const before = await countRows(clickhouse, types)
  const awaited = new Map<string, Answered>()
  const freshness: number[] = []
  let result: LoadResult | undefined

  const look = async (): Promise<void> => {
    if (awaited.size === 0) return
    const found = await findIds(clickhouse, [...awaited.values()])
    const now = performance.timeOrigin + performance.now()
    for (const id of found) {
      freshness.push(Math.max(0, now - (awaited.get(id)?.at ?? now)))
      awaited.delete(id)
    }
  }
  const missing = async (): Promise<string | undefined> => {
    if (!result) return 'the last answer'
    const rows = await countRows(clickhouse, types)
    const late = types.find((type) => (rows[type] ?? 0) - (before[type] ?? 0) < (result?.accepted[type] ?? 0))
    if (late) return `rows of ${late} in ClickHouse`
    return (rows.refused ?? 0) - (before.refused ?? 0) < result.refused ? 'rejections in ClickHouse' : undefined
  }
  const watch = async (): Promise<void> => {
    let deadline = Number.POSITIVE_INFINITY
    for (;;) {
      await look()
      if (result) deadline = Math.min(deadline, Date.now() + storedWithinMs)
      const waitsFor = awaited.size > 0 ? 'records that were answered' : await missing()
      if (result && waitsFor === undefined) return
      if (Date.now() > deadline)
        throw new Error(`${storedWithinMs / 1000} s after the last answer there are no ${waitsFor} yet`)
      await wait(lookEveryMs)
    }
  }
  const send = async (): Promise<void> => {
    result = await generator.load(plan, { onBegan, onAnswered: (answered) => awaited.set(answered.id, answered) })
  }
  await Promise.all([send(), watch()])
  return { result: result as unknown as LoadResult, freshness }
}

/** Which of these records of the organisation `demo` are in ClickHouse, in one question: many would be most of what it has to do. */
const findIds = async (clickhouse: ClickHouse, awaited: readonly Answered[]): Promise<string[]> => {
  const ofTypes = [...groupBy(awaited, ({ type }) => type)]
  const selects = ofTypes.map(([type], n) => {
    const id = catalogue.all.get(type)?.id
    return `select distinct toString(${id}) as id from ${logOf(type)} where org_id = 'demo' and ${id} in {ids${n}:Array(UUID)}`
  })
  const ids = Object.fromEntries(ofTypes.map(([, ofType], n) => [`ids${n}`, ofType.map((each) => each.id)]))
  const rows = await clickhouse.query<{ id: string }>(selects.join(' union all '), ids)
  return rows.map((row) => row.id)
}

/** How many rows each type has, and how many there are of refused records. */
const countRows = async (clickhouse: ClickHouse, types: readonly string[]): Promise<Record<string, number>> => {
  const tables = [...types.map((type) => [type, logOf(type)]), ['refused', `weir.${rejectionsLog}`]]
  const counts = tables.map(([type, table]) => `select '${type}' as type, toUInt32(count()) as rows from ${table}`)
  const rows = await clickhouse.query<{ type: string; rows: number }>(counts.join(' union all '))
  return Object.fromEntries(rows.map((row) => [row.type, row.rows]))
}

type Reading = { each: Map<string, Spent>; bench: Spent; machine: number }

const readAll = (pids: ReadonlyMap<string, number>): Reading => {
  // Everything that the bench started descends from this process.
  const spent = readProcesses(new Map([...pids, ['the bench itself', process.pid]]))
  const { 'the bench itself': bench = { cpuSeconds: 0, megabytes: 0 } } = Object.fromEntries(spent)
  return { each: spent, bench, machine: readMachine() }
}

const usages = (
  before: ReadonlyMap<string, Spent>,
  after: ReadonlyMap<string, Spent>,
  peaks: ReadonlyMap<string, number>,
  records: number,
): Record<string, Usage> =>
  Object.fromEntries(
    [...peaks].map(([name, peak]) => {
      const cpuSeconds = (after.get(name)?.cpuSeconds ?? 0) - (before.get(name)?.cpuSeconds ?? 0)
      // A process that was started again begins at 0; its figures would say nothing.
      if (cpuSeconds < 0) throw new Error(`${name} was started again while it was measured; see its log, and run again`)
      const megabytes = after.get(name)?.megabytes ?? 0
      return [
        name,
        { cpuMicros: round((cpuSeconds / records) * 1e6), megabytes, peakMegabytes: Math.max(peak, megabytes) },
      ]
    }),
  )

/** The most memory that each process has, looked at a few times a second. */
const watchPeaks = (pids: ReadonlyMap<string, number>) => {
  const peaks = new Map([...pids.keys()].map((name) => [name, 0]))
  const look = () => {
    for (const [name, pid] of pids) peaks.set(name, Math.max(peaks.get(name) ?? 0, residentMegabytes(pid)))
  }
  const timer = setInterval(look, peakEveryMs)
  return {
    stop: () => {
      clearInterval(timer)
      return peaks
    },
  }
}

const round = (value: number): number => Math.round(value * 100) / 100
