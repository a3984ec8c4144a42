import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { postgresPart } from '../../deploy/embedded/servers/postgres.js'
import type { ProcessDefinition } from '../../deploy/embedded/supervision/supervisor.js'
import { eventually } from '../support/eventually.js'
import type { ClusterNetwork } from './network.js'

export const postgresHosts = ['pg-1', 'pg-2'] as const
export type PostgresHost = (typeof postgresHosts)[number]
export type PostgresPair = Awaited<ReturnType<typeof createPostgresPair>>

const port = 5432
const within = 60_000

// What belongs to the server that was copied is left out: its log is fetched from there, or from the archive.
const makeOwn = `cd "$1" && rm -f postmaster.pid postmaster.opts && rm -rf pg_wal/0* pg_replslot/* &&
  chown --reference=PG_VERSION backup_label *.signal postgresql.auto.conf`

export const otherOf = (host: PostgresHost): PostgresHost => (host === 'pg-1' ? 'pg-2' : 'pg-1')

/**
 * Two Postgres servers, of which one copies the other: what Patroni and the like do by themselves is done here by hand, so that a
 * test can also do it wrong.
 */
export const createPostgresPair = async (dataDir: string, network: ClusterNetwork) => {
  const clusterOf = (host: PostgresHost): string => join(dataDir, host, 'postgres/cluster')
  const backupOf = (host: PostgresHost): string => join(dataDir, host, 'postgres/backup')
  const urlOf = (host: PostgresHost): string => `postgres://weir:weir@${network.addressOf(host)}:${port}/weir`

  const ask = async <Row extends object>(host: PostgresHost, text: string): Promise<Row[]> => {
    const client = new pg.Client({
      connectionString: urlOf(host),
      connectionTimeoutMillis: 2_000,
      query_timeout: 10_000,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      return (await client.query<Row>(text)).rows
    } finally {
      await client.end().catch(() => {})
    }
  }
  const answers = (host: PostgresHost): Promise<boolean> =>
    ask(host, 'select 1').then(
      () => true,
      () => false,
    )

  const define = async (host: PostgresHost): Promise<ProcessDefinition> => {
    const part = await postgresPart({ dataDir: join(dataDir, host), port })
    return {
      ...part,
      name: host,
      // The last one of each counts.
      args: [...part.args, '-c', `listen_addresses=${network.addressOf(host)}`, '-c', 'wal_keep_size=1GB'],
      runAs: [...network.enter(host), ...(part.runAs ?? [])],
      prepare: async (signal) => {
        await part.prepare?.(signal)
        const rules = join(clusterOf(host), 'pg_hba.conf')
        const mark = join(dataDir, host, 'let-in')
        if (existsSync(mark)) return
        await appendFile(
          rules,
          ['all', 'replication'].map((what) => `host ${what} all samenet scram-sha-256\n`).join(''),
        )
        await writeFile(mark, '')
      },
      isReady: () => answers(host),
    }
  }
  const definitions = { 'pg-1': await define('pg-1'), 'pg-2': await define('pg-2') }

  /** Whether a commit waits for the other one. A server without a standby that does so commits nothing. */
  const setSynchronous = async (host: PostgresHost, isOn: boolean): Promise<void> => {
    await ask(host, `alter system set synchronous_standby_names = '${isOn ? '*' : ''}'`)
    await ask(host, 'select pg_reload_conf()')
  }

  const run = promisify(execFile)
  /** Copies a server that runs into a folder, as every backup of one does. */
  const backUp = async (host: PostgresHost, folder: string): Promise<void> => {
    await rm(folder, { recursive: true, force: true })
    const client = new pg.Client(urlOf(host))
    await client.connect()
    await client.query(`select pg_backup_start('copy', true)`)
    // Files come and go meanwhile.
    await run('cp', ['-a', clusterOf(host), folder]).catch(() => {})
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    await client.end()
    await writeFile(join(folder, 'backup_label'), rows[0]?.labelfile ?? '')
  }
  /** Has a copy, which does not run yet, begin with these settings, as what the signal says. */
  const settle = async (host: PostgresHost, signal: 'standby' | 'recovery', settings: readonly string[]) => {
    await writeFile(join(clusterOf(host), `${signal}.signal`), '')
    await appendFile(join(clusterOf(host), 'postgresql.auto.conf'), `${settings.join('\n')}\n`)
    await run('sh', ['-c', makeOwn, 'sh', clusterOf(host)])
    await writeFile(join(dataDir, host, 'let-in'), '')
  }

  return {
    definitions,
    /** Of both, as services are told it. */
    url: `postgres://weir:weir@${postgresHosts.map((host) => `${network.addressOf(host)}:${port}`).join()}/weir?target_session_attrs=read-write`,
    ask,
    setSynchronous,
    /** Makes a host, which does not run, a copy of the other one, which does: whatever it had is gone. */
    copyFromOther: async (host: PostgresHost): Promise<void> => {
      const other = otherOf(host)
      await mkdir(join(dataDir, host, 'postgres'), { recursive: true })
      await backUp(other, clusterOf(host))
      const copies = `host=${network.addressOf(other)} port=${port} user=weir password=weir application_name=${host}`
      // A server that was restored itself still has where its restore was to end.
      const own = ['recovery_target_time', 'restore_command', 'synchronous_standby_names'].map((name) => `${name} = ''`)
      await settle(host, 'standby', [`primary_conninfo = '${copies}'`, ...own])
    },
    /** Keeps a copy of a host, which runs, for `restore`. */
    backUp: (host: PostgresHost): Promise<void> => backUp(host, backupOf(host)),
    /** Makes a host, which does not run, what it was at a moment: from its last backup and the log that it has written since. */
    restore: async (host: PostgresHost, moment: string): Promise<void> => {
      const archive = join(dataDir, host, 'postgres/archive')
      await rm(archive, { recursive: true, force: true })
      await run('cp', ['-a', join(clusterOf(host), 'pg_wal'), archive])
      await rm(clusterOf(host), { recursive: true })
      await run('cp', ['-a', backupOf(host), clusterOf(host)])
      await settle(host, 'recovery', [
        `restore_command = 'cp "${archive}/%f" "%p"'`,
        `recovery_target_time = '${moment}'`,
        `recovery_target_action = 'promote'`,
        `synchronous_standby_names = ''`,
      ])
    },
    /** Until the other one has all that this one has. */
    untilCopied: (host: PostgresHost): Promise<void> =>
      eventually(async () => {
        const rows = await ask<{ state: string }>(
          host,
          `select state from pg_stat_replication where state = 'streaming' and replay_lsn >= pg_current_wal_flush_lsn() - 65536::numeric`,
        )
        if (rows.length === 0) throw new Error(`nobody copies ${host}`)
      }, within),
    promote: async (host: PostgresHost): Promise<void> => {
      await ask(host, 'select pg_promote()')
    },
  }
}
