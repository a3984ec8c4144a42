import type { LauncherConfig } from '../../../deploy/embedded/launcher/config.js'
import { mainOf, serviceEnvironment } from '../../../deploy/embedded/launcher/services.js'
import { clickhousePart } from '../../../deploy/embedded/servers/clickhouse.js'
import { kafkaPart } from '../../../deploy/embedded/servers/kafka.js'
import { answersHttp } from '../../../deploy/embedded/servers/ports.js'
import { postgresPart } from '../../../deploy/embedded/servers/postgres.js'
import { registryPart } from '../../../deploy/embedded/servers/registry.js'
import type { ProcessDefinition } from '../../../deploy/embedded/supervision/supervisor.js'
import type { StackAddresses } from './addresses.js'

/**
 * Few records in a batch, so that a small request has several; a short timeout, so that a client without a verdict soon tries again;
 * waits of a second, so that some end in vain within a run.
 */
export const recordsInBatch = 4
const serviceSettings = { BATCH_RECORDS: String(recordsInBatch), VERDICT_TIMEOUT_MS: '5000', MIN_WAIT_SECONDS: '1' }

export const partDefinitions = async (
  dataDir: string,
  { ports, links }: StackAddresses,
): Promise<Record<'kafka' | 'registry' | 'postgres' | 'clickhouse', ProcessDefinition>> => ({
  kafka: kafkaPart({
    dataDir,
    port: ports.kafka,
    behind: { port: ports.kafkaBehind, advertisedPort: links.kafka.port },
  }),
  registry: await registryPart({ dataDir, port: ports.registry }),
  postgres: await postgresPart({ dataDir, port: ports.postgres }),
  clickhouse: clickhousePart({ dataDir, port: ports.clickhouse }),
})

/** The services as they run in production, two of those that may be several; they reach the parts through the links. */
export const serviceDefinitions = ({ ports, linked }: StackAddresses): Record<ServiceName, ProcessDefinition> => {
  const define = (name: ServiceName, service: Service) => defineService(name, service, linked, ports)
  return {
    sink: define('sink', 'sink'),
    'integrity-1': define('integrity-1', 'integrity'),
    'integrity-2': define('integrity-2', 'integrity'),
    'edge-1': define('edge-1', 'edge'),
    'edge-2': define('edge-2', 'edge'),
    delivery: define('delivery', 'delivery'),
  }
}

export type Service = 'edge' | 'integrity' | 'sink' | 'delivery'

/** A service of this name; `ports` says where it and those that it asks how they are listen. */
export const defineService = (
  name: string,
  service: Service,
  config: LauncherConfig,
  ports: Readonly<Record<string, number>>,
): ProcessDefinition => {
  const peers = Object.keys(ports).filter((peer) => /^(integrity|sink)/.test(peer))
  return {
    name,
    port: ports[name] ?? 0,
    command: process.execPath,
    args: [mainOf(service)],
    env: {
      ...serviceEnvironment(config),
      ...serviceSettings,
      [`${service.toUpperCase()}_PORT`]: String(ports[name]),
      PEERS: peers.map((peer) => `${peer}=http://127.0.0.1:${ports[peer]}`).join(),
    },
    isReady: () => answersHttp(`http://127.0.0.1:${ports[name]}/readyz`),
  }
}

export const parts = ['kafka', 'registry', 'postgres', 'clickhouse'] as const
export const services = ['sink', 'integrity-1', 'integrity-2', 'edge-1', 'edge-2', 'delivery'] as const
export type PartName = (typeof parts)[number]
export type ServiceName = (typeof services)[number]
export type ProcessName = PartName | ServiceName
