import { countingRemoval } from '#ledger/entities.js'
import type { Counted } from '#ledger/erasures/erasures.js'
import { inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { changedBy, countOf, type Database, rowsOf } from '#platform/postgres/rows.js'

// What Postgres has of an organisation that is deleted as a whole. Which tables there are Postgres itself is asked. Left is that there was an
// organisation of this id, and what the erasure says of it.

const kept = ['auth.organisations', 'erasure.erasures', 'erasure.gates', 'erasure.persons']

/** Those first that refer to others: a row goes before the one that it refers to. */
const findTables = async (db: Database): Promise<string[]> => {
  const tables = await rowsOf<{ table: string; refersTo: string[] }>(
    db,
    `select format('%I.%I', n.nspname, c.relname) as table, (
        select coalesce(array_agg(k.confrelid::regclass::text), '{}')
        from pg_constraint k where k.conrelid = c.oid and k.contype = 'f' and k.confrelid <> c.oid
      ) as "refersTo"
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id' and not a.attisdropped
    where c.relkind in ('r', 'p') and n.nspname not like 'pg\\_%'
    order by 1`,
  )
  const left = new Map(tables.filter(({ table }) => !kept.includes(table)).map((each) => [each.table, each.refersTo]))
  const sorted: string[] = []
  while (left.size > 0) {
    const isReferredTo = (table: string): boolean => [...left.values()].some((others) => others.includes(table))
    const free = [...left.keys()].filter((table) => !isReferredTo(table))
    if (free.length === 0) throw new Error(`tables refer to each other: ${[...left.keys()].join(', ')}`)
    for (const table of free) left.delete(table)
    sorted.push(...free)
  }
  return sorted
}

const deleteSql = (table: string): string =>
  `${table === 'integrity.entities' ? countingRemoval : ''} delete from ${table} where org_id = $1`

export const countRowsOf = async (pool: Pool, orgId: string): Promise<Counted[]> => {
  const counts: Counted[] = []
  for (const where of await findTables(pool)) {
    const count = await countOf(pool, `select count(*) as count from ${where} where org_id = $1`, [orgId])
    if (count > 0) counts.push({ where, count })
  }
  return counts
}

export const removeRowsOf = async (pool: Pool, orgId: string): Promise<void> => {
  const touched = await inTransaction(pool, async (connection) => {
    // Its audit goes with it, which nothing else may delete from; and its verdicts, of batches that are in the log no longer.
    await connection.query(
      `select set_config('weir.audit', 'delete', true), set_config('weir.deleted_organisation', 'on', true)`,
    )
    const changed: string[] = []
    for (const table of await findTables(connection))
      if ((await changedBy(connection, deleteSql(table), [orgId])) > 0) changed.push(table)
    return changed
  })
  // What was removed is on the disk until its page is cleaned.
  for (const table of touched) await pool.query(`vacuum ${table}`)
}
