import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type ClickHouse, createClickHouse } from '#platform/clickhouse.js'
import { pidIn } from '../support/process-tree.js'
import { startWholeSystem, type WholeSystem } from '../support/system/whole-system.js'
import { type Generator, startGenerator } from './load/start-generator.js'
import { createMeter, type Meter } from './measure/meter.js'
import { startYardstick, type Yardstick } from './measure/start-yardstick.js'
import { cpuOf, type Measured, services } from './results.js'

/** What a step of the bench works with: a running system, and what loads and measures it. */
export type Bench = {
  system: WholeSystem
  generator: Generator
  yardstick: Yardstick
  clickhouse: ClickHouse
  pids: ReadonlyMap<string, number>
  meter: Meter
  say: (line: string) => void
}

/** Called with what has to be stopped if the run is interrupted, the last one first. */
export type OnStarted = (stop: () => Promise<void>) => void

// Limits for each key keep one client from crowding out others. Here one client is to find out how much there is.
const env = { RATE_REQUESTS_PER_SECOND: '0', RATE_RECORDS_PER_SECOND: '0', RATE_BYTES_PER_SECOND: '0' }

/** Starts a system, does the work, and stops it, also where the work fails. */
export const withSystem = async <T>(
  { dataDir, say, onStarted }: { dataDir?: string; say: (line: string) => void; onStarted: OnStarted },
  work: (bench: Bench) => Promise<T>,
): Promise<T> => {
  say('starting a system …')
  const { system, stop } = await startWholeSystem({ env, ...(dataDir === undefined ? {} : { dataDir }) })
  const generator = startGenerator()
  const yardstick = startYardstick()
  const clickhouse = createClickHouse(system.env.CLICKHOUSE_URL)
  let stopped: Promise<void> | undefined
  const stopAll = () => {
    stopped ??= (async () => {
      generator.stop()
      yardstick.stop()
      await clickhouse.close()
      await stop()
    })()
    return stopped
  }
  onStarted(stopAll)
  try {
    const pids = new Map([...pidsOf(system.dataDir), ['generator', generator.pid]])
    const meter = createMeter({ generator, clickhouse, brokers: system.env.KAFKA_BROKERS, pids, yardstick })
    return await work({ system, generator, yardstick, clickhouse, pids, meter, say })
  } finally {
    await stopAll()
  }
}

/** The processes that the launcher runs, by name. A part that runs elsewhere is not among them. */
const pidsOf = (dataDir: string): [string, number][] =>
  [...services, 'kafka', 'postgres', 'clickhouse']
    .filter((name) => existsSync(join(dataDir, 'run', `${name}.pid`)))
    .map((name) => [name, pidIn(dataDir, name)])

/** A measured load in one line, for those who wait. */
export const lineOf = (measured: Measured): string => {
  const cpu = measured.processes.floors ? cpuOf(measured, 'floors') : cpuOf(measured, ...services)
  const trouble = measured.problem ? `; ${measured.problem}` : ''
  return `${measured.name}: ${measured.answeredPerSecond} records answered a second, ${cpu.toFixed(1)} µs CPU each (yardstick ${measured.yardstickMicros.toFixed(0)})${trouble}`
}
