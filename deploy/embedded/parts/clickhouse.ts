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
      // Queries run on libuv's threads, whose number is fixed before any code runs.
      UV_THREADPOOL_SIZE: '16',
    },
    prepare: async () => {
      await mkdir(home, { recursive: true })
    },
    isReady: () => answersHttp(`http://127.0.0.1:${port}/ping`),
    neededBy: ['edge', 'sink'],
    stopsBy: 'ends the queries that are under way, for 2 s at most',
  }
}
