import { clickhousePart } from '../servers/clickhouse.js'
import { kafkaPart } from '../servers/kafka.js'
import { postgresPart } from '../servers/postgres.js'
import { registryPart } from '../servers/registry.js'
import type { ProcessDefinition } from '../supervision/supervisor.js'
import type { LauncherConfig } from './config.js'
import type { PortVariable } from './start-settings.mjs'

const parts: Partial<
  Record<PortVariable, (options: { dataDir: string; port: number }) => ProcessDefinition | Promise<ProcessDefinition>>
> = {
  KAFKA_PORT: kafkaPart,
  REGISTRY_PORT: registryPart,
  POSTGRES_PORT: postgresPart,
  CLICKHOUSE_PORT: clickhousePart,
}

/** The parts that this start runs itself: those whose address was not given, so that their port is among ownPorts. */
export const embeddedParts = (
  config: Pick<LauncherConfig, 'dataDir' | 'ports' | 'ownPorts'>,
): Promise<ProcessDefinition[]> =>
  Promise.all(
    config.ownPorts.flatMap((variable) => {
      const define = parts[variable]
      return define ? [define({ dataDir: config.dataDir, port: config.ports[variable] })] : []
    }),
  )
