import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../deploy/embedded/launcher/config.js'
import { provision, serviceAddresses } from '../../deploy/embedded/launcher/services.js'
import { clickhousePart } from '../../deploy/embedded/servers/clickhouse.js'
import { kafkaPart } from '../../deploy/embedded/servers/kafka.js'
import { freePorts } from '../../deploy/embedded/servers/ports.js'
import { registryPart } from '../../deploy/embedded/servers/registry.js'
import {
  type ProcessDefinition,
  type SupervisedProcess,
  superviseProcess,
} from '../../deploy/embedded/supervision/supervisor.js'
import { defineService, type Service } from '../faults/stack/definitions.js'
import { eventually } from '../support/eventually.js'
import { signalTree } from '../support/process-tree.js'
import { endProcessesWith } from '../support/system/left-behind.js'
import { type ClusterNetwork, openClusterNetwork } from './network.js'
import { createPostgresPair, postgresHosts } from './postgres-pair.js'

export const brokers = ['kafka-1', 'kafka-2', 'kafka-3'] as const
export type BrokerName = (typeof brokers)[number]
export type Cluster = Awaited<ReturnType<typeof startCluster>>

/** The hosts of a cluster, to be opened before it is started: where that cannot be, the reason why. */
export const openHosts = () => openClusterNetwork([...brokers, ...postgresHosts])

const kafkaPort = 9092
const controllerPort = 9093
const backWithin = 180_000

/** How many of each service there are. */
export type Width = Record<Exclude<Service, 'delivery'>, number>
const usualWidth: Width = { edge: 2, integrity: 2, sink: 2 }

/** Weir on three brokers and two Postgres servers, each a host of its own; services, registry and ClickHouse on this machine. */
export const startCluster = async (
  network: ClusterNetwork,
  { say, width = usualWidth, env = {} }: { say: (line: string) => void; width?: Width; env?: Record<string, string> },
) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-cluster-'))
  const names = (Object.keys(width) as (keyof Width)[]).flatMap((service) =>
    // Room for those that are added later.
    Array.from({ length: 4 }, (_, n) => ({ name: `${service}-${n + 1}`, service, isFirst: n < width[service] })),
  )
  const [registryPort = 0, clickhousePort = 0, ...free] = await freePorts(2 + names.length)
  const ports = Object.fromEntries(names.map(({ name }, n) => [name, free[n] ?? 0]))
  const postgres = await createPostgresPair(dataDir, network)
  const config = readConfig({
    DATA_DIR: dataDir,
    REGISTRY_PORT: String(registryPort),
    CLICKHOUSE_PORT: String(clickhousePort),
    KAFKA_BROKERS: brokers.map((name) => `${network.addressOf(name)}:${kafkaPort}`).join(),
    POSTGRES_URL: postgres.url,
  })

  const clusterId = randomBytes(16).toString('base64url')
  const hosts = brokers.map(network.addressOf)
  const broker = async (name: BrokerName, n: number): Promise<ProcessDefinition> => {
    const home = join(dataDir, name)
    await mkdir(join(home, 'kafka'), { recursive: true })
    await writeFile(join(home, 'kafka/cluster-id'), clusterId)
    const node = { id: n + 1, hosts, controllerPort }
    return { ...kafkaPart({ dataDir: home, port: kafkaPort, node }), name, runAs: network.enter(name) }
  }
  const first = (name: string): boolean => names.some((each) => each.name === name && each.isFirst)
  const seen = Object.fromEntries(Object.entries(ports).filter(([name]) => first(name)))
  const definitions = new Map<string, ProcessDefinition>(
    [
      ...(await Promise.all(brokers.map(broker))),
      ...Object.values(postgres.definitions),
      await registryPart({ dataDir, port: registryPort }),
      clickhousePart({ dataDir, port: clickhousePort }),
      ...names.map(({ name, service }) => {
        const definition = defineService(name, service, config, { ...seen, [name]: ports[name] ?? 0 })
        return { ...definition, env: { ...definition.env, ...env } }
      }),
    ].map((definition) => [definition.name, definition]),
  )

  const running = new Map<string, SupervisedProcess>()
  const reports: string[] = []
  const report = (line: string): void => {
    reports.push(line)
    say(line)
  }
  const start = async (name: string): Promise<void> => {
    const definition = definitions.get(name)
    if (!definition) throw new Error(`there is no ${name}`)
    const supervised = superviseProcess(
      // DATA_DIR marks them as ours, should one be left behind.
      { ...definition, env: { ...definition.env, DATA_DIR: dataDir } },
      { dataDir, report },
    )
    running.set(name, supervised)
    await supervised.start()
  }
  const stopOne = async (name: string): Promise<void> => {
    await running.get(name)?.stop()
    running.delete(name)
  }
  const kill = async (name: string): Promise<void> => {
    const supervised = running.get(name)
    const pid = supervised?.pid()
    // First, or the supervisor would start it again.
    supervised?.kill()
    if (pid !== undefined) signalTree(pid, 'SIGKILL')
    await supervised?.stop()
    running.delete(name)
  }
  const stop = async (): Promise<void> => {
    await network.mendAll()
    const isService = (name: string) => name in ports
    await Promise.all([...running.keys()].filter(isService).map(stopOne))
    await Promise.all([...running.keys()].map(stopOne))
    const left = await endProcessesWith(`DATA_DIR=${dataDir}`)
    if (left.length > 0) throw new Error(`processes were left behind: ${left.join('; ')}`)
    await rm(dataDir, { recursive: true, force: true })
  }

  try {
    const makeStandby = async (): Promise<void> => {
      await start('pg-1')
      await postgres.copyFromOther('pg-2')
      await start('pg-2')
      await postgres.untilCopied('pg-1')
      await postgres.setSynchronous('pg-1', true)
    }
    await Promise.all([...brokers.map(start), start('registry'), start('clickhouse'), makeStandby()])
    await provision(config).done
    await Promise.all(names.filter(({ isFirst }) => isFirst).map(({ name }) => start(name)))
  } catch (error) {
    await stop().catch(() => {})
    throw error
  }

  return {
    dataDir,
    lanesHad: [1],
    network,
    postgres,
    reports: reports as readonly string[],
    addresses: serviceAddresses(config),
    edgeUrls: names.flatMap(({ name, service, isFirst }) =>
      service === 'edge' && isFirst ? [`http://127.0.0.1:${ports[name]}`] : [],
    ),
    urlOf: (name: string): string => `http://127.0.0.1:${ports[name]}`,
    pidOf: (name: string): number => running.get(name)?.pid() ?? 0,
    start,
    /** Ends it in good order; it stays down. */
    stopOne,
    /** Ends it and all that it started at once; it stays down. */
    kill,
    heal: async (): Promise<void> => {
      await network.mendAll()
    },
    /** Until all that was started is ready. */
    untilReady: (): Promise<void> =>
      eventually(async () => {
        const states = await Promise.all([...running.keys()].map(async (n) => [n, await definitions.get(n)?.isReady()]))
        const waiting = states.filter(([, isReady]) => !isReady).map(([name]) => name)
        if (waiting.length > 0) throw new Error(`not ready: ${waiting.join(', ')}`)
      }, backWithin),
    stop,
  }
}
