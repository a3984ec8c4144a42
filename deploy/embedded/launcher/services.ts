import { join } from 'node:path'
import { packageRoot } from '#platform/process/package-root.js'
import { answersHttp } from '../parts/answers-http.js'
import type { ProcessDefinition } from '../supervision/process-definition.js'
import type { Config } from './config.js'

// Named from the far end of the path to the near one: stopped in the opposite order, so the edge takes no new
// records first, and what it waits for still arrives.
const services = [
  { name: 'sink', port: 'SINK_PORT' },
  { name: 'integrity', port: 'INTEGRITY_PORT' },
  { name: 'edge', port: 'EDGE_PORT' },
] as const

/** Weir's own processes, each as it runs in production. */
export const weirServices = (config: Config): ProcessDefinition[] =>
  services.map(({ name, port }) => ({
    name,
    port: config.ports[port],
    command: process.execPath,
    args: [mainOf(name)],
    env: serviceEnvironment(config),
    isReady: () =>
      answersHttp(`${name === 'edge' ? edgeUrl(config) : `http://127.0.0.1:${config.ports[port]}`}/readyz`),
  }))

export const mainOf = (service: string): string => join(packageRoot, 'dist/services', service, 'main.js')

export const serviceEnvironment = (config: Config): Record<string, string> => ({
  ...config.addresses,
  EDGE_HOST: config.edgeHost,
  EDGE_PORT: String(config.ports.EDGE_PORT),
  INTEGRITY_PORT: String(config.ports.INTEGRITY_PORT),
  SINK_PORT: String(config.ports.SINK_PORT),
  PEERS: `integrity=http://127.0.0.1:${config.ports.INTEGRITY_PORT},sink=http://127.0.0.1:${config.ports.SINK_PORT}`,
})

/** Where this machine reaches the edge; an edge that listens everywhere is reached on loopback too. */
export const edgeUrl = ({ edgeHost, edgeTls, ports }: Pick<Config, 'edgeHost' | 'edgeTls' | 'ports'>): string => {
  const host = edgeHost === '0.0.0.0' || edgeHost === '::' ? '127.0.0.1' : edgeHost
  return `${edgeTls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${ports.EDGE_PORT}`
}
