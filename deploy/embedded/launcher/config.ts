import { isAddress } from '#platform/postgres/hosts.js'
import { readConfig as readVariables, withFiles } from '#platform/process/config.js'
import { packageRoot } from '#platform/process/package-root.js'
import { networkVariables, openNetwork } from '../../../services/edge/network/network.js'
import { type PortVariable, readStartSettings } from './start-settings.mjs'

/** Where the parts are. A part whose address is in the environment is used, not started. */
export type Addresses = Readonly<
  Record<'KAFKA_BROKERS' | 'SCHEMA_REGISTRY_URL' | 'POSTGRES_URL' | 'CLICKHOUSE_URL', string>
>

/** An address that holds a password can be given as a file; the services then get what the launcher has read. */
export const addressFiles = ['POSTGRES_URL_FILE', 'CLICKHOUSE_URL_FILE'] as const
export type AddressFile = (typeof addressFiles)[number]
const isAddressFile = (name: string): name is AddressFile => (addressFiles as readonly string[]).includes(name)

export type LauncherConfig = {
  readonly dataDir: string
  readonly edgeHost: string
  /** Whether the edge itself speaks TLS, without a proxy before it. */
  readonly edgeTls: boolean
  readonly ports: Readonly<Record<PortVariable, number>>
  readonly addresses: Addresses
  /** The ports that this start listens on: those of the services, and of the parts that it starts. */
  readonly ownPorts: readonly PortVariable[]
}

export class ConfigProblems extends Error {
  override name = 'ConfigProblems'
}

/** Reads the launcher's environment; throws one error that names every problem. */
export const readConfig = (env: Readonly<Record<string, string | undefined>>): LauncherConfig => {
  const { problems, dataDir, edgeHost, ports, ownPorts } = readStartSettings(env, packageRoot)
  const part = (address: keyof Addresses, port: PortVariable, own: (port: number) => string): string => {
    const file = `${address}_FILE` as const
    const names = isAddressFile(file) ? [address, file] : [address]
    const named = withFiles(names, Object.fromEntries(names.map((name) => [name, env[name]?.trim()])))
    problems.push(...named.problems)
    const given = named.data[address]
    if (given && address !== 'KAFKA_BROKERS' && !isAddress(given)) problems.push(`${address} is not a URL`)
    return given || own(ports[port])
  }
  const registry = (port: number) => `http://127.0.0.1:${port}/apis/ccompat/v7`
  const addresses = {
    KAFKA_BROKERS: part('KAFKA_BROKERS', 'KAFKA_PORT', (port) => `127.0.0.1:${port}`),
    SCHEMA_REGISTRY_URL: part('SCHEMA_REGISTRY_URL', 'REGISTRY_PORT', registry),
    POSTGRES_URL: part('POSTGRES_URL', 'POSTGRES_PORT', (port) => `postgres://weir:weir@127.0.0.1:${port}/weir`),
    CLICKHOUSE_URL: part('CLICKHOUSE_URL', 'CLICKHOUSE_PORT', (port) => `http://127.0.0.1:${port}`),
  }
  if (problems.length > 0) throw new ConfigProblems(problems.join('\n'))
  return Object.freeze({ dataDir, edgeHost, edgeTls: Boolean(env.TLS_CERT), ports, addresses, ownPorts })
}

/** Checks the edge's network settings now: the edge itself starts last, after half a minute and five other processes. */
export const checkEdgeNetwork = (env: NodeJS.ProcessEnv): void => {
  try {
    openNetwork(readVariables({ type: 'object', properties: networkVariables }, env))
  } catch (error) {
    throw new ConfigProblems((error as Error).message)
  }
}
