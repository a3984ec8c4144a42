import { join, resolve } from 'node:path'
import { packageRoot } from '#platform/process/package-root.js'

/** Reads the environment of the ClickHouse process; throws one error that names every problem. */
export const readConfig = (env: NodeJS.ProcessEnv) => {
  const problems: string[] = []
  const port = Number(env.CLICKHOUSE_PORT ?? 8123)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) problems.push('CLICKHOUSE_PORT must be a port number')
  if (!env.CLICKHOUSE_PATH) problems.push('CLICKHOUSE_PATH must name the data folder')
  if (!env.CLICKHOUSE_WEIR_PASSWORD) problems.push('CLICKHOUSE_WEIR_PASSWORD must be the password of the user weir')
  // Queries and files share the threads of libuv's pool, whose size libuv reads before any of our code runs.
  const threads = Number(env.UV_THREADPOOL_SIZE)
  if (!Number.isInteger(threads) || threads < 4)
    problems.push('UV_THREADPOOL_SIZE must be set to 4 or more before Node starts (16 is a good value)')
  if (problems.length > 0) throw new Error(problems.join('; '))
  return Object.freeze({
    host: env.CLICKHOUSE_HOST ?? '127.0.0.1',
    port,
    path: resolve(env.CLICKHOUSE_PATH ?? ''),
    /** Of the user `default`, who only reads, and of the user `weir`, who also writes. */
    password: env.CLICKHOUSE_PASSWORD ?? '',
    weirPassword: env.CLICKHOUSE_WEIR_PASSWORD ?? '',
    threads,
    /** Of the engine itself; a test may have another one than ours. */
    engineConfig: env.CLICKHOUSE_ENGINE_CONFIG ?? join(packageRoot, 'deploy/embedded/clickhouse/access.xml'),
    logLevel: env.LOG_LEVEL ?? 'info',
  })
}
