import { readdir, readFile, readlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { LauncherConfig } from './config.js'

/**
 * One line for each port that this start needs and cannot have: the port, the program that has it, the variable that
 * changes it.
 */
export const findBusyPorts = async (
  config: Pick<LauncherConfig, 'edgeHost' | 'ports' | 'ownPorts'>,
): Promise<string[]> => {
  const lines = await Promise.all(
    config.ownPorts.map(async (variable) => {
      const port = config.ports[variable]
      const host = variable === 'EDGE_PORT' ? config.edgeHost : '127.0.0.1'
      const problem = await tryPort(port, host)
      if (problem === undefined) return undefined
      if (problem !== 'EADDRINUSE') return `Port ${port} cannot be used (${problem}); set ${variable} to another one.`
      const holder = await findPortHolder(port)
      return `Port ${port} is in use${holder ? ` by ${holder}` : ''}; end that, or set ${variable} to another one.`
    }),
  )
  return lines.filter((line) => line !== undefined)
}

const tryPort = (port: number, host: string): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)))
  })

/**
 * "java (process 1234)"; undefined where that cannot be found out: on other systems than Linux, and for other users'
 * processes.
 */
const findPortHolder = async (port: number): Promise<string | undefined> => {
  const sockets = new Set([...(await listeners('/proc/net/tcp', port)), ...(await listeners('/proc/net/tcp6', port))])
  if (sockets.size === 0) return undefined
  for (const pid of (await tolerant(readdir('/proc'), [])).filter((name) => /^\d+$/.test(name))) {
    for (const descriptor of await tolerant(readdir(`/proc/${pid}/fd`), [])) {
      if (!sockets.has(await tolerant(readlink(`/proc/${pid}/fd/${descriptor}`), ''))) continue
      const name = await tolerant(readFile(`/proc/${pid}/comm`, 'utf8'), '')
      return `${name.trim() || 'a program'} (process ${pid})`
    }
  }
  return undefined
}

const LISTEN = '0A'

const listeners = async (file: string, port: number): Promise<string[]> => {
  const lines = (await tolerant(readFile(file, 'utf8'), '')).split('\n').slice(1)
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === LISTEN && local?.endsWith(`:${hexPort}`))
    .map((fields) => `socket:[${fields[9]}]`)
}

// Processes come and go while we look, and those of other users may not be looked at.
const tolerant = <T>(promise: Promise<T>, fallback: T): Promise<T> => promise.catch(() => fallback)
