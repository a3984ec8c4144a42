import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { provision, serviceAddresses } from '../../../deploy/embedded/launcher/services.js'
import {
  type ProcessDefinition,
  type SupervisedProcess,
  superviseProcess,
} from '../../../deploy/embedded/supervision/supervisor.js'
import { eventually } from '../../support/eventually.js'
import { endProcessesWith } from '../../support/system/left-behind.js'
import { openAddresses } from './addresses.js'
import {
  type ProcessName,
  partDefinitions,
  parts,
  type ServiceName,
  serviceDefinitions,
  services,
} from './definitions.js'
import { createSignals } from './signals.js'

export type FaultStack = Awaited<ReturnType<typeof startStack>>

const backWithin = 180_000

/** Everything that Weir is, real, supervised as the launcher does it, and with a link before every part. */
export const startStack = async ({
  say,
  lanes = 1,
  erases = false,
  backoff,
}: {
  say: (line: string) => void
  lanes?: number
  /** Whether the service is there that erases persons. */
  erases?: boolean
  /** Milliseconds before a process that ended is started again, where not the launcher's. */
  backoff?: readonly number[]
}) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-faults-'))
  const addresses = await openAddresses(dataDir)
  const { links, ports } = addresses
  const reports: string[] = []
  const report = (line: string) => {
    reports.push(line)
    say(line)
  }
  const definitions: Record<ProcessName, ProcessDefinition> = {
    ...(await partDefinitions(dataDir, addresses)),
    ...serviceDefinitions(addresses),
  }
  const present = erases ? services : services.filter((name) => name !== 'delivery')
  const running = new Map<ProcessName, SupervisedProcess>()
  const signals = createSignals(dataDir)

  const start = async (name: ProcessName, env: Record<string, string> = {}): Promise<void> => {
    const definition = definitions[name]
    const supervised = superviseProcess(
      // DATA_DIR marks them as ours, should one be left behind.
      { ...definition, env: { ...definition.env, ...env, DATA_DIR: dataDir } },
      { dataDir, report, ...(backoff && { backoff }) },
    )
    running.set(name, supervised)
    await supervised.start()
  }
  const stopOne = async (name: ProcessName): Promise<void> => {
    signals.sendToAll(name, 'SIGCONT')
    await running.get(name)?.stop()
    running.delete(name)
  }
  const heal = async (): Promise<void> => {
    for (const link of Object.values(links)) {
      link.slowDown(0)
      link.thaw()
      await link.mend()
    }
    for (const name of running.keys()) signals.sendToAll(name, 'SIGCONT')
  }
  const stop = async (): Promise<void> => {
    await heal()
    await Promise.all(services.map(stopOne))
    await Promise.all(parts.map(stopOne))
    for (const link of Object.values(links)) await link.close()
    const left = await endProcessesWith(`DATA_DIR=${dataDir}`)
    if (left.length > 0) throw new Error(`processes were left behind: ${left.join('; ')}`)
    await rm(dataDir, { recursive: true, force: true })
  }
  /** Until no more than this many processes are not ready. */
  const untilMostReady = (mayBeDown: number): Promise<void> =>
    eventually(async () => {
      const states = await Promise.all(
        [...parts, ...present].map(async (name) => [name, await definitions[name].isReady()]),
      )
      const waiting = states.filter(([, isReady]) => !isReady).map(([name]) => name)
      if (waiting.length > mayBeDown) throw new Error(`not ready: ${waiting.join(', ')}`)
    }, backWithin)

  try {
    await Promise.all(parts.map((name) => start(name)))
    await provision(addresses.direct, { LANES: String(lanes) }).done
    await Promise.all(present.map((name) => start(name)))
  } catch (error) {
    await stop()
    throw error
  }

  return {
    dataDir,
    /** How many lanes the system has, the last one, and what it had before. */
    lanesHad: [lanes],
    links,
    signals,
    /** What the supervisor said, in order: who ended and how, and who is ready again. */
    reports: reports as readonly string[],
    addresses: serviceAddresses(addresses.direct),
    edgeUrls: [ports['edge-1'], ports['edge-2']].map((port) => `http://127.0.0.1:${port}`),
    stopSignalOf: (name: ProcessName): NodeJS.Signals => definitions[name].stopSignal ?? 'SIGTERM',
    /** Ends a service in good order, and starts it with these variables for its first life. */
    startAnew: async (name: ServiceName, env: Record<string, string> = {}): Promise<void> => {
      await stopOne(name)
      await start(name, env)
    },
    heal,
    untilReady: () => untilMostReady(0),
    untilMostReady,
    stop,
  }
}
