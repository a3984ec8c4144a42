import { type Database, firstRow, rowsOf } from '#platform/postgres/rows.js'
import { countPending } from '../migrate.js'

/** What a Postgres says of itself, as far as it matters to Weir. */
export type PostgresFacts = {
  /** 150004 is 15.4 */
  version: number
  settings: ReadonlyMap<string, string>
  /** Connections of all clients. */
  used: number
  /** How each connected standby keeps up: async, potential, sync or quorum; empty where the user may not see them. */
  standbys: readonly string[]
  /** Migrations of this Weir that have not run there. */
  pending: number
}

const asked = [
  ...['server_version', 'server_version_num', 'max_connections', 'superuser_reserved_connections'],
  ...['fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names'],
]

export const lookAtPostgres = async (db: Database): Promise<PostgresFacts> => {
  const rows = await rowsOf<{ name: string; setting: string }>(
    db,
    `select name, setting from pg_settings where name = any ($1::text[])`,
    [asked],
  )
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]))
  const used = await firstRow<{ clients: number }>(
    db,
    `select count(*) as clients from pg_stat_activity where backend_type = 'client backend'`,
  )
  const standbys = await rowsOf<{ state: string | null }>(db, `select sync_state as state from pg_stat_replication`)
  return {
    version: Number(settings.get('server_version_num')),
    settings,
    used: used?.clients ?? 0,
    standbys: standbys.flatMap(({ state }) => state ?? []),
    pending: await countPending(db),
  }
}
