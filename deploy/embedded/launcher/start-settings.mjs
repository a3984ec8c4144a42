// @ts-check
// Plain Node, not TypeScript, so that it can also run before anything is compiled.
import { resolve } from 'node:path'

const defaultPorts = {
  EDGE_PORT: 8080,
  INTEGRITY_PORT: 8082,
  SINK_PORT: 8083,
  DELIVERY_PORT: 8084,
  KAFKA_PORT: 9092,
  REGISTRY_PORT: 8081,
  POSTGRES_PORT: 5432,
  CLICKHOUSE_PORT: 8123,
}

/** What `npm start` is told, for those who ask. */
export const startHelp = `npm start: all of Weir on this machine, with a Kafka, a schema registry, a Postgres and a ClickHouse of its own.
The first start sets up what it needs. Ctrl-C ends it; what was acknowledged is there again at the next start.

It takes no options. What can be chosen is named in the environment, and all of it is in docs/settings.md:
  DATA_DIR        where its data is (.data)
  EDGE_HOST       the address that uploads come to (127.0.0.1)
${Object.entries(defaultPorts)
  .map(([name, port]) => `  ${name.padEnd(16)}${port}`)
  .join('\n')}
  KAFKA_BROKERS, SCHEMA_REGISTRY_URL, POSTGRES_URL, CLICKHOUSE_URL
                  parts of your own, instead of those that it would start

For example: DATA_DIR=../weir-data EDGE_PORT=9080 npm start
`

/** @typedef {keyof typeof defaultPorts} PortVariable */

/** @type {readonly (readonly [PortVariable, ...string[]])[]} the ports, each with the addresses that make it unneeded */
const portsAndAddresses = [
  ['KAFKA_PORT', 'KAFKA_BROKERS'],
  ['REGISTRY_PORT', 'SCHEMA_REGISTRY_URL'],
  ['POSTGRES_PORT', 'POSTGRES_URL', 'POSTGRES_URL_FILE'],
  ['CLICKHOUSE_PORT', 'CLICKHOUSE_URL', 'CLICKHOUSE_URL_FILE'],
  ['INTEGRITY_PORT'],
  ['SINK_PORT'],
  ['DELIVERY_PORT'],
  ['EDGE_PORT'],
]

/**
 * What a start takes of this machine. `ownPorts` are those that it listens on: the services', and those of the parts that it starts.
 * @param {Readonly<Record<string, string | undefined>>} env
 * @param {string} root the clone
 */
export const readStartSettings = (env, root) => {
  /** @type {string[]} */
  const problems = []
  const ports = /** @type {Record<PortVariable, number>} */ (
    Object.fromEntries(
      Object.entries(defaultPorts).map(([name, fallback]) => [name, readPort(name, env[name], fallback, problems)]),
    )
  )
  const ownPorts = portsAndAddresses
    .filter(([, ...addresses]) => !addresses.some((address) => env[address]?.trim()))
    .map(([name]) => name)
  for (const [index, name] of ownPorts.entries()) {
    const twin = ownPorts.slice(0, index).find((other) => ports[other] === ports[name])
    if (twin) problems.push(`${twin} and ${name} are both ${ports[name]}`)
  }
  const dataDir = resolve(root, env.DATA_DIR?.trim() || '.data')
  return { dataDir, edgeHost: env.EDGE_HOST?.trim() || '127.0.0.1', ports, ownPorts, problems }
}

/** @type {(name: string, text: string | undefined, fallback: number, problems: string[]) => number} */
const readPort = (name, text, fallback, problems) => {
  if (!text?.trim()) return fallback
  const port = Number(text)
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port
  problems.push(`${name} must be a port from 1 to 65535, not ${JSON.stringify(text)}`)
  return fallback
}
