import { resolve } from 'node:path'
import { readConfig as readVariables, withFiles } from '#platform/process/config.js'
import { packageRoot } from '#platform/process/package-root.js'
import { networkVariables, openNetwork } from '../../../services/edge/network/network.js'

const defaultPorts = {
  EDGE_PORT: 8080,
  INTEGRITY_PORT: 8082,
  SINK_PORT: 8083,
  KAFKA_PORT: 9092,
  REGISTRY_PORT: 8081,
  POSTGRES_PORT: 5432,
  CLICKHOUSE_PORT: 8123,
} as const

export type PortVariable = keyof typeof defaultPorts

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
  const problems: string[] = []
  const ports = Object.fromEntries(
    Object.entries(defaultPorts).map(([name, fallback]) => [name, readPort(name, env[name], fallback, problems)]),
  ) as Record<PortVariable, number>

  const part = (address: keyof Addresses, port: PortVariable, own: (port: number) => string) => {
    const file = `${address}_FILE` as const
    const names = isAddressFile(file) ? [address, file] : [address]
    const named = withFiles(names, Object.fromEntries(names.map((name) => [name, env[name]?.trim()])))
    problems.push(...named.problems)
    const given = named.data[address]
    if (given && address !== 'KAFKA_BROKERS' && !URL.canParse(given)) problems.push(`${address} is not a URL`)
    return { address: given || own(ports[port]), ownPorts: given ? [] : [port] }
  }
  const kafka = part('KAFKA_BROKERS', 'KAFKA_PORT', (port) => `127.0.0.1:${port}`)
  const registry = part('SCHEMA_REGISTRY_URL', 'REGISTRY_PORT', (port) => `http://127.0.0.1:${port}/apis/ccompat/v7`)
  const postgres = part('POSTGRES_URL', 'POSTGRES_PORT', (port) => `postgres://weir:weir@127.0.0.1:${port}/weir`)
  const clickhouse = part('CLICKHOUSE_URL', 'CLICKHOUSE_PORT', (port) => `http://127.0.0.1:${port}`)

  const ownPorts: PortVariable[] = [
    ...[kafka, registry, postgres, clickhouse].flatMap((each) => each.ownPorts),
    ...(['INTEGRITY_PORT', 'SINK_PORT', 'EDGE_PORT'] as const),
  ]
  for (const [index, name] of ownPorts.entries()) {
    const twin = ownPorts.slice(0, index).find((other) => ports[other] === ports[name])
    if (twin) problems.push(`${twin} and ${name} are both ${ports[name]}`)
  }
  if (problems.length > 0) throw new ConfigProblems(problems.join('\n'))

  return Object.freeze({
    dataDir: resolve(packageRoot, env.DATA_DIR?.trim() || '.data'),
    edgeHost: env.EDGE_HOST?.trim() || '127.0.0.1',
    edgeTls: Boolean(env.TLS_CERT),
    ports,
    addresses: {
      KAFKA_BROKERS: kafka.address,
      SCHEMA_REGISTRY_URL: registry.address,
      POSTGRES_URL: postgres.address,
      CLICKHOUSE_URL: clickhouse.address,
    },
    ownPorts,
  })
}

const readPort = (name: string, text: string | undefined, fallback: number, problems: string[]): number => {
  if (!text?.trim()) return fallback
  const port = Number(text)
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port
  problems.push(`${name} must be a port from 1 to 65535, not ${JSON.stringify(text)}`)
  return fallback
}

/** Checks the edge's network settings now: the edge itself starts last, after half a minute and five other processes. */
export const checkEdgeNetwork = (env: NodeJS.ProcessEnv): void => {
  try {
    openNetwork(readVariables({ type: 'object', properties: networkVariables }, env))
  } catch (error) {
    throw new ConfigProblems((error as Error).message)
  }
}
