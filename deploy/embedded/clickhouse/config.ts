import { resolve } from 'node:path'

export type Config = Readonly<{
  host: string
  port: number
  path: string
  password: string
  threads: number
  logLevel: string
}>

/** Reads the environment, the only place here that does; throws with every problem at once. */
export const readConfig = (env: NodeJS.ProcessEnv): Config => {
  const problems: string[] = []
  const port = Number(env.CLICKHOUSE_PORT ?? 8123)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) problems.push('CLICKHOUSE_PORT must be a port number')
  if (!env.CLICKHOUSE_PATH) problems.push('CLICKHOUSE_PATH must name the data folder')
  // libuv sizes its pool before any of our code runs: setting it here would be too late, and the engine's
  // queries share that pool with file access.
  const threads = Number(env.UV_THREADPOOL_SIZE)
  if (!Number.isInteger(threads) || threads < 4)
    problems.push('UV_THREADPOOL_SIZE must be set to 4 or more before Node starts (16 is a good value)')
  if (problems.length > 0) throw new Error(problems.join('; '))
  return Object.freeze({
    host: env.CLICKHOUSE_HOST ?? '127.0.0.1',
    port,
    path: resolve(env.CLICKHOUSE_PATH ?? ''),
    password: env.CLICKHOUSE_PASSWORD ?? '',
    threads,
    logLevel: env.LOG_LEVEL ?? 'info',
  })
}
