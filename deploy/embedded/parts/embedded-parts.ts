import type { PortVariable } from '../launcher/config.js'
import type { ProcessDefinition } from '../supervision/supervisor.js'
import { clickhousePart } from './clickhouse.js'
import { kafkaPart } from './kafka.js'
import { postgresPart } from './postgres.js'
import { registryPart } from './registry.js'

const parts: Partial<
  Record<PortVariable, (options: { dataDir: string; port: number }) => ProcessDefinition | Promise<ProcessDefinition>>
> = {
  KAFKA_PORT: kafkaPart,
  REGISTRY_PORT: registryPart,
  POSTGRES_PORT: postgresPart,
  CLICKHOUSE_PORT: clickhousePart,
}

/** The parts that this start runs itself: those whose address was not given, so that their port is among ownPorts. */
export const embeddedParts = (config: {
  dataDir: string
  ports: Readonly<Record<PortVariable, number>>
  ownPorts: readonly PortVariable[]
}): Promise<ProcessDefinition[]> =>
  Promise.all(
    config.ownPorts.flatMap((variable) => {
      const define = parts[variable]
      return define ? [define({ dataDir: config.dataDir, port: config.ports[variable] })] : []
    }),
  )
