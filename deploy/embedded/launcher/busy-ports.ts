import { createServer } from 'node:net'
import type { Config } from './config.js'
import { findPortHolder } from './port-holder.js'

/** One line for each port that this start needs and cannot have: which, who has it, and what moves it. */
export const findBusyPorts = async (config: Pick<Config, 'edgeHost' | 'ports' | 'ownPorts'>): Promise<string[]> => {
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
