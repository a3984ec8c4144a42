import { freePorts } from '../../deploy/embedded/servers/ports.js'

const variables = [
  'EDGE_PORT',
  'INTEGRITY_PORT',
  'SINK_PORT',
  'DELIVERY_PORT',
  'KAFKA_PORT',
  'REGISTRY_PORT',
  'POSTGRES_PORT',
  'CLICKHOUSE_PORT',
] as const

/** The launcher's port variables, each with a port that is free now. */
export const freePortVariables = async (): Promise<Record<(typeof variables)[number], string>> => {
  const ports = await freePorts(variables.length)
  return Object.fromEntries(variables.map((name, index) => [name, String(ports[index])])) as Record<
    (typeof variables)[number],
    string
  >
}
