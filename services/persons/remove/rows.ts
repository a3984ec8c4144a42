import { setTimeout as wait } from 'node:timers/promises'
import type { ClickHouse } from '#platform/clickhouse.js'
import { placementOf } from '#schemas/derive/clickhouse/placement.js'
import { database } from '#schemas/derive/names.js'

/** Ten thousand persons are a megabyte of hashes. */
export const manyHashes = {
  max_query_size: '67108864',
  max_ast_elements: '10000000',
  max_expanded_ast_elements: '10000000',
}

/** Removes rows from tables in ClickHouse so that they are gone from the disk, on one server or on all of a cluster. */
export const createRowRemoval = (clickhouse: ClickHouse, place: { cluster?: string | undefined }) => {
  const placed = placementOf(place)
  /** On a cluster, what each of its servers has; one that does not answer is an error. */
  const everywhere = (table: string): string =>
    place.cluster === undefined ? table : `clusterAllReplicas('${place.cluster}', ${table})`

  return {
    everywhere,
    /** A lightweight delete would leave the rows on the disk for as long as nothing merges their part. */
    removeRows: (table: string, rows: string): Promise<void> =>
      clickhouse.command(
        `alter table ${database}.${table}${placed.on} delete where ${rows} settings mutations_sync = 2`,
        manyHashes,
      ),
    untilPartsAreGone,
  }

  // For eight minutes ClickHouse keeps a part that was replaced, and looks for such parts seldom where little happens.
  async function untilPartsAreGone(tables: readonly string[], signal: AbortSignal): Promise<void> {
    const onEach = (command: (table: string) => string) =>
      Promise.all(tables.map((table) => clickhouse.command(command(table))))
    const set = (change: string) => onEach((table) => `alter table ${database}.${table}${placed.on} ${change}`)
    const replaced = await findReplaced(tables)
    await set('modify setting old_parts_lifetime = 1, cleanup_delay_period = 1, max_cleanup_delay_period = 2')
    try {
      for (;;) {
        const left = await findReplaced(tables)
        // What merges have replaced since never had the rows.
        if (![...left].some((part) => replaced.has(part))) return
        await onEach((table) => `system start cleanup${placed.on} ${database}.${table}`)
        await wait(500, undefined, { signal })
      }
    } finally {
      await set('reset setting old_parts_lifetime, cleanup_delay_period, max_cleanup_delay_period')
    }
  }
  /** Parts that are on a disk though others have replaced them, on every server. */
  async function findReplaced(tables: readonly string[]): Promise<Set<string>> {
    const rows = await clickhouse.query<{ part: string }>(
      `select concat(hostName(), ' ', table, ' ', name) as part from ${everywhere('system.parts')}
      where database = {database:String} and table in {tables:Array(String)} and not active`,
      { database, tables },
    )
    return new Set(rows.map(({ part }) => part))
  }
}
