import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClickHouse, createClickHouse } from '#platform/clickhouse.js'
import { startEngine } from '../../deploy/embedded/clickhouse/running-engine.js'

export const cluster = 'weir-test'

/**
 * The embedded engine as the only server of a cluster: its Distributed tables read and write the tables of this server. It runs
 * neither `on cluster` nor Replicated tables, so these words are taken out of the statements; all others are run as they are.
 */
export const startOneShard = async (): Promise<{
  clickhouse: ClickHouse
  asked: string[]
  stop: () => Promise<void>
}> => {
  const path = await mkdtemp(join(tmpdir(), 'weir-shard-'))
  const ours = await readFile('deploy/embedded/clickhouse/access.xml', 'utf8')
  const config = join(path, 'config.xml')
  await writeFile(
    config,
    ours
      .replace('<path>access.xml</path>', `<path>${config}</path>`)
      .replace('GRANT SHOW', 'GRANT READ ON REMOTE, WRITE ON REMOTE, SHOW')
      .replace('</clickhouse>', `${servers}</clickhouse>`),
  )
  const engine = await startEngine(path, { CLICKHOUSE_ENGINE_CONFIG: config })
  const clickhouse = createClickHouse(engine.ownUrl, { cluster })
  const asked: string[] = []
  const command = async (sql: string): Promise<void> => {
    asked.push(sql)
    if (!sql.startsWith('system sync replica')) await clickhouse.command(onThisServer(sql))
  }
  const stop = async (): Promise<void> => {
    await clickhouse.close()
    await engine.kill('SIGKILL')
    await rm(path, { recursive: true, force: true })
  }
  return { clickhouse: { ...clickhouse, command }, asked, stop }
}

const onThisServer = (sql: string): string =>
  sql
    .replaceAll(` on cluster \`${cluster}\``, '')
    .replace(/Replicated((?:Replacing)?MergeTree)\('[^']+', '\{replica\}'(?:, (\w+))?\)/, (_, engine, newestBy) =>
      newestBy ? `${engine}(${newestBy})` : engine,
    )

// The port is not listened on: it is how the engine knows that this server is itself.
const servers = `
  <tcp_port>9000</tcp_port>
  <remote_servers>
    <${cluster}>
      <shard>
        <internal_replication>true</internal_replication>
        <replica><host>127.0.0.1</host><port>9000</port></replica>
      </shard>
    </${cluster}>
  </remote_servers>`
