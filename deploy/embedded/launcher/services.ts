import { join } from 'node:path'
import { packageRoot } from '#platform/process/package-root.js'
import { answersHttp } from '../parts/ports.js'
import { logFileOf, sizeOf, tailOf } from '../supervision/log-file.js'
import { type Running, spawnNoted } from '../supervision/noted-processes.js'
import { CannotStart, type ProcessDefinition } from '../supervision/supervisor.js'
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

/**
 * Topics, subjects, tables, migrations, and the organisation demo with its key, which is left in <dataDir>/demo-key.
 * Everything that is there already stays.
 */
export const provision = (config: Config): Running & { done: Promise<void> } => {
  const logFile = logFileOf(config.dataDir, 'provision')
  const logFrom = sizeOf(logFile) ?? 0
  const running = spawnNoted(
    {
      name: 'provision',
      command: process.execPath,
      args: [mainOf('operator'), 'provision', '--demo-key-file', demoKeyFile(config)],
      env: serviceEnvironment(config),
    },
    config.dataDir,
  )
  const done = running.ended.then(({ isClean, reason }) => {
    if (isClean) return
    const tail = tailOf(logFile, 12, logFrom).map((line) => `  ${line}`)
    throw new CannotStart([`provisioning failed: ${reason}. Its log: ${logFile}`, ...tail].join('\n'))
  })
  return { ...running, done }
}

export const demoKeyFile = (config: Config): string => join(config.dataDir, 'demo-key')

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
