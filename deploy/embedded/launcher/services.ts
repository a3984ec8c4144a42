import { join } from 'node:path'
import { problemsIn, type Readiness } from '#platform/health/health.js'
import { packageRoot } from '#platform/process/package-root.js'
import { weirPassword } from '../servers/clickhouse.js'
import { askHttp } from '../servers/ports.js'
import { logFileOf, sizeOf, tailOf } from '../supervision/log-file.js'
import { type RunningProcess, spawnNoted } from '../supervision/noted-processes.js'
import { CannotStart, type ProcessDefinition } from '../supervision/supervisor.js'
import { type Addresses, type AddressFile, addressFiles, type LauncherConfig } from './config.js'

const services = [
  { name: 'sink', port: 'SINK_PORT', stopsBy: 'ends the inserts that it has begun' },
  { name: 'delivery', port: 'DELIVERY_PORT', stopsBy: 'notes what came of the attempts under way' },
  // The edge answers its open requests before it ends, and they wait for integrity's verdicts.
  { name: 'integrity', port: 'INTEGRITY_PORT', neededBy: ['edge'], stopsBy: 'ends the batches that it has begun' },
  { name: 'edge', port: 'EDGE_PORT', stopsBy: 'answers the requests that are under way, for 5 s at most' },
] as const

/**
 * What a service's readiness names and no start waits for. What an operator has to mend can be mended only while the system is up; and the
 * edge names what others say for themselves.
 */
const overlooked = {
  sink: ['inserts'],
  delivery: [] as string[],
  integrity: ['decisions', 'partitions', 'memory'],
  edge: services.map(({ name }) => name as string),
}

/** Weir's own processes, each as it runs in production. */
export const weirServices = (config: LauncherConfig): ProcessDefinition[] =>
  services.map(({ name, port, ...stop }) => ({
    name,
    ...stop,
    port: config.ports[port],
    command: process.execPath,
    args: [mainOf(name)],
    env: serviceEnvironment(config),
    isReady: async () => {
      const problems = await problemsOf(addressOf(config, name, port))
      return problems?.every((problem) => overlooked[name].includes(problem.part)) ?? false
    },
  }))

const addressOf = (config: LauncherConfig, name: string, port: (typeof services)[number]['port']): string =>
  name === 'edge' ? edgeUrl(config) : `http://127.0.0.1:${config.ports[port]}`

/** What the services that are up still say is wrong, a line for each. */
export const findProblems = async (config: LauncherConfig): Promise<string[]> => {
  const all = await Promise.all(
    services.map(async ({ name, port }) => {
      const problems = (await problemsOf(addressOf(config, name, port))) ?? []
      const own = problems.filter(({ part }) => name !== 'edge' || !overlooked.edge.includes(part))
      return own.map(({ part, problem }) => `${name.padEnd(10)} is not ready, ${part}: ${problem}`)
    }),
  )
  return all.flat()
}

/** The parts that a service's readiness names as not working; undefined where it does not answer, or does not say which. */
const problemsOf = async (address: string): Promise<{ part: string; problem: string }[] | undefined> => {
  const answer = await askHttp(`${address}/readyz`)
  if (answer?.status === 200) return []
  if (answer?.status !== 503) return undefined
  try {
    const { parts } = JSON.parse(answer.body) as Partial<Readiness>
    return parts && problemsIn(parts)
  } catch {
    // Something else than a service of Weir answers there.
    return undefined
  }
}

/** Makes topics, subjects, tables and the organisation demo; `done` resolves to what is left to the operator. */
export const provision = (
  config: LauncherConfig,
  env: Record<string, string> = {},
): RunningProcess & { done: Promise<string[]> } => {
  const logFile = logFileOf(config.dataDir, 'provision')
  const logFrom = sizeOf(logFile) ?? 0
  // Our own parts take what they take, and the launcher says which one cannot start.
  const wait = ownsAllParts(config) ? '600s' : '60s'
  const words = ['provision', '--quick', '--wait', wait, '--demo-key-file', demoKeyFile(config)]
  const definition = {
    name: 'provision',
    command: process.execPath,
    args: [mainOf('operator'), ...words],
    env: { ...serviceEnvironment(config), ...env },
  }
  const running = spawnNoted(definition, config.dataDir)
  const done = running.ended.then(({ isClean, reason }) => {
    const tail = tailOf(logFile, 12, logFrom)
    // The line of a step that is done ends with the time that it took.
    if (isClean) return tail.filter((line) => !/ s\)$/.test(line))
    const lines = tail.map((line) => `  ${line}`)
    throw new CannotStart([`provisioning failed: ${reason}. Its log: ${logFile}`, ...lines].join('\n'))
  })
  return { ...running, done }
}

/** Whether the launcher starts Kafka, the registry, Postgres and ClickHouse itself, all of them. */
export const ownsAllParts = ({ ownPorts }: LauncherConfig): boolean =>
  (['KAFKA_PORT', 'REGISTRY_PORT', 'POSTGRES_PORT', 'CLICKHOUSE_PORT'] as const).every((port) =>
    ownPorts.includes(port),
  )

export const demoKeyFile = (config: LauncherConfig): string => join(config.dataDir, 'demo-key')

export const mainOf = (service: string): string => join(packageRoot, 'dist/services', service, 'main.js')

export const serviceEnvironment = (config: LauncherConfig): Record<string, string> & Addresses => ({
  ...serviceAddresses(config),
  ...withoutAddressFiles,
  EDGE_HOST: config.edgeHost,
  EDGE_PORT: String(config.ports.EDGE_PORT),
  INTEGRITY_PORT: String(config.ports.INTEGRITY_PORT),
  SINK_PORT: String(config.ports.SINK_PORT),
  DELIVERY_PORT: String(config.ports.DELIVERY_PORT),
  PEERS: (
    [
      ['integrity', 'INTEGRITY_PORT'],
      ['sink', 'SINK_PORT'],
      ['delivery', 'DELIVERY_PORT'],
    ] as const
  )
    .map(([name, port]) => `${name}=http://127.0.0.1:${config.ports[port]}`)
    .join(),
})

/** Where the services find the parts: the embedded ClickHouse as the user who may write. */
export const serviceAddresses = ({ addresses, dataDir, ownPorts, ports }: LauncherConfig): Addresses =>
  ownPorts.includes('CLICKHOUSE_PORT')
    ? { ...addresses, CLICKHOUSE_URL: `http://weir:${weirPassword(dataDir)}@127.0.0.1:${ports.CLICKHOUSE_PORT}` }
    : addresses

/** Takes from a process the names of files whose addresses it is given: it refuses both. */
export const withoutAddressFiles = Object.fromEntries(addressFiles.map((name) => [name, ''])) as Record<AddressFile, ''>

/** Where programs on this machine reach the edge; an edge that listens on every address is reached on loopback. */
export const edgeUrl = (config: Pick<LauncherConfig, 'edgeHost' | 'edgeTls' | 'ports'>): string => {
  const { edgeHost, edgeTls, ports } = config
  const host = edgeHost === '0.0.0.0' || edgeHost === '::' ? '127.0.0.1' : edgeHost
  return `${edgeTls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${ports.EDGE_PORT}`
}
