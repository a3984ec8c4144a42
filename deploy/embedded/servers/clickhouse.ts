import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { packageRoot } from '#platform/process/package-root.js'
import type { ProcessDefinition } from '../supervision/supervisor.js'
import { answersHttp } from './ports.js'

/** The ClickHouse engine with ClickHouse's HTTP interface, see ../clickhouse. Its data is in <dataDir>/clickhouse. */
export const clickhousePart = ({ dataDir, port }: { dataDir: string; port: number }): ProcessDefinition => {
  const home = join(dataDir, 'clickhouse')
  return {
    name: 'clickhouse',
    port,
    command: process.execPath,
    args: [join(packageRoot, 'dist/deploy/embedded/clickhouse/main.js')],
    env: {
      CLICKHOUSE_HOST: '127.0.0.1',
      CLICKHOUSE_PORT: String(port),
      CLICKHOUSE_PATH: home,
      CLICKHOUSE_WEIR_PASSWORD: weirPassword(dataDir),
      // Queries run on libuv's threads, whose number is fixed before any code runs.
      UV_THREADPOOL_SIZE: '16',
    },
    prepare: async () => {
      await mkdir(home, { recursive: true })
    },
    isReady: () => answersHttp(`http://127.0.0.1:${port}/ping`),
    neededBy: ['edge', 'sink', 'delivery'],
    stopsBy: 'ends the queries that are under way, for 2 s at most',
  }
}

/** Of the user `weir`, by which the services write. Made when it is first asked for; only its owner may read the file. */
export const weirPassword = (dataDir: string): string => {
  const file = join(dataDir, 'clickhouse-password')
  const known = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  if (known) return known
  const made = randomBytes(24).toString('hex')
  mkdirSync(dataDir, { recursive: true })
  // Renamed when it is whole: on a full disk it would be there and empty.
  writeFileSync(`${file}.new`, `${made}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return made
}
