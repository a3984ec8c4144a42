import { groupBy } from '#platform/group-by.js'
import type { Latencies } from './measure/figures.js'

// What a run of the bench found out: what --json prints, and what tables, plot, documents and the arithmetic of capacity read.

/** What one process spent: CPU in µs a record, memory in MB when all was stored, and the most of it meanwhile. */
export type Usage = { cpuMicros: number; megabytes: number; peakMegabytes: number }

/** One load that was measured from its first request until the last record was in ClickHouse. */
export type Measured = {
  name: string
  type: string
  recordsPerRequest: number
  connections: number
  requests: number
  records: number
  refused: number
  /** Records a second until the last answer, and until the last record was in ClickHouse. */
  answeredPerSecond: number
  storedPerSecond: number
  /** Milliseconds of a request. */
  took: Latencies
  /** Milliseconds from an answer until its record was seen in ClickHouse. */
  freshness?: Latencies
  processes: Record<string, Usage>
  /** What a unit of the yardstick's work took meanwhile: how slow the machine was. */
  yardstickMicros: number
  /** How many cores were busy with what does not belong to the bench, and the machine's load average at the end. */
  othersCores: number
  loadAverage: number
  /** How many answers had each status; the first one that was no success. */
  statuses: Record<string, number>
  problem?: string
}

export type Growth = {
  /** Shops known before and after filling up, and a load of transactions that refer to them. */
  entities: { few: number; many: number }
  withFew: Measured
  withMany: Measured
  organisations: { few: number; many: number }
  ofFew: Measured
  ofMany: Measured
  /** MB of each process after a tenth of the records, and after all of them. */
  memory: Record<string, { tenth: number; all: number; peak: number }>
}

export type Results = {
  at: string
  form: 'short' | 'full'
  commit: string
  machine: { cores: number; model: string; gigabytes: number; node: string }
  /** How long the whole run took. */
  seconds: number
  floors: { naive: Measured[]; floor: Measured; interaction: Measured; roundTrip: Latencies }
  workloads: Measured[]
  halfLoad: Measured
  /** The same records in order, and with every tenth waiting, at the same pace: of several turns of each the one that took least. */
  paced?: { inOrder: Measured; waiting: Measured }
  /** Bytes that a record takes on disk, in each part. */
  bytesOnDisk: Record<string, number>
  /** Milliseconds of a request of an organisation that sends little: alone, and beside one that sends all it can. */
  neighbour?: { alone: Latencies; beside: Latencies }
  /** 150 connections with 5000 records each. */
  flood?: Measured
  /** How long the second start on the same data took. */
  start?: { seconds: number }
  growth?: Growth
}

/**
 * The same loads as they would have been at one speed of the machine, the middle one of the run: all CPU by what the yardstick took
 * meanwhile. What a load took by the clock stays as it was.
 */
export const atOneSpeed = (all: readonly Measured[], load: Measured): Measured => {
  const sorted = all.map(({ yardstickMicros }) => yardstickMicros).toSorted((a, b) => a - b)
  const factor = (sorted[Math.floor(sorted.length / 2)] ?? 1) / load.yardstickMicros
  const processes = Object.entries(load.processes).map(([name, usage]) => [
    name,
    { ...usage, cpuMicros: Math.round(usage.cpuMicros * factor * 100) / 100 },
  ])
  return { ...load, processes: Object.fromEntries(processes) }
}

/** The services whose CPU is the price of a record in Weir. */
export const services = ['edge', 'integrity', 'sink'] as const

export const findWorkload = (results: Results, type: string, recordsPerRequest: number): Measured | undefined =>
  results.workloads.find((each) => each.type === type && each.recordsPerRequest === recordsPerRequest)

export const findInteractions = (results: Results, connections: number): Measured | undefined =>
  results.workloads.find((each) => each.type === 'interactions' && each.connections === connections)

export const cpuOf = (measured: Measured, ...processes: readonly string[]): number =>
  processes.reduce((sum, name) => sum + (measured.processes[name]?.cpuMicros ?? 0), 0)

/** The cheaper naive way with these requests: its runs, some before and some after Weir's. */
export const naiveRuns = (
  { floors: { naive } }: Results,
  like: Pick<Measured, 'type' | 'recordsPerRequest'> = { type: 'shops', recordsPerRequest: 5000 },
): Measured[] => {
  const same = naive.filter((each) => each.type === like.type && each.recordsPerRequest === like.recordsPerRequest)
  const ways = [...groupBy(same, ({ name }) => name).values()]
  return ways.toSorted((a, b) => meanOf(a, naiveCpu) - meanOf(b, naiveCpu))[0] ?? []
}

/** µs a record of the cheaper naive way with these requests; undefined where it was not measured. */
export const naivePrice = (
  results: Results,
  like?: Pick<Measured, 'type' | 'recordsPerRequest'>,
): number | undefined => {
  const runs = naiveRuns(results, like)
  return runs.length > 0 ? meanOf(runs, naiveCpu) : undefined
}

const naiveCpu = (measured: Measured): number => cpuOf(measured, 'floors')

export const meanOf = (runs: readonly Measured[], figure: (measured: Measured) => number): number =>
  runs.reduce((sum, each) => sum + figure(each), 0) / runs.length

/** Records a second, by how fast the machine was: the same for a machine that is twice as slow for a while. */
export const steadyRate = (perSecond: number, { yardstickMicros }: Measured): number => perSecond * yardstickMicros
