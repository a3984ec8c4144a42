import type { Counted, Erasure } from '#ledger/erasures/erasures.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { changedBy, countOf, type Database, rowsOf } from '#platform/postgres/rows.js'
import type { Sought } from './who-is-named.js'

// What the services' tables have of persons. Which columns there are Postgres itself is asked: so none is forgotten. A UUID in a text is
// replaced by one that is nobody's, so that a verdict or an audit row stays what it was, but for the person; a row whose own id it is goes.

const nobody = '00000000-0000-0000-0000-000000000000'
const anyUuid = '[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}'

type Column = { table: string; column: string; type: 'text' | 'json' | 'jsonb' | 'uuid'; hasOrg: boolean }

/** What the erasure itself keeps, until it is done. */
const own = 'erasure'
/** Tables whose rows are named by ids of records. Requests, keys and batches have ids too, which are no person's. */
const rowsOfPersons = new Set([
  'integrity.entities',
  'integrity.entities_rebuilt',
  'integrity.waiting',
  'integrity.waiting_for',
  'integrity.waiting_arrived',
])

const findColumns = (db: Database): Promise<Column[]> =>
  rowsOf(
    db,
    `select format('%I.%I', c.table_schema, c.table_name) as table, quote_ident(c.column_name) as column,
      c.data_type as type,
      exists (
        select from information_schema.columns o
        where o.table_schema = c.table_schema and o.table_name = c.table_name and o.column_name = 'org_id'
      ) as "hasOrg"
    from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where t.table_type = 'BASE TABLE' and c.table_schema in ('auth', 'delivery', 'edge', 'integrity', 'operator', 'query')
      and c.table_schema <> '${own}'
      and (c.data_type in ('text', 'json', 'jsonb') or c.data_type = 'uuid' and c.column_name = 'id')
      and c.column_name not in ('org_id', 'type', 'topic', 'state', 'secret', 'former_secret', 'url')
    order by 1, 2`,
  )

/** $1 is the salt, $2 the hashes, $3 the organisation. */
const isNamed = ({ table, column, type, hasOrg }: Column): string | undefined => {
  const ofOrg = hasOrg ? 'org_id = $3 and' : '$3::text is not null and'
  if (type === 'uuid')
    return rowsOfPersons.has(table)
      ? `${ofOrg} sha256($1::bytea || convert_to(${column}::text, 'UTF8')) = any ($2::bytea[])`
      : undefined
  return `${ofOrg} exists (
    select from regexp_matches(${column}::text, '${anyUuid}', 'g') found
    where sha256($1::bytea || convert_to(lower(found[1]), 'UTF8')) = any ($2::bytea[])
  )`
}

const namesOf = (erasures: readonly Erasure[]): string[] =>
  erasures.flatMap(({ known }) => [...(known?.customerIds ?? []), ...(known?.userIds ?? [])])

const valuesOf = ({ salt, orgId }: Sought, hashes: readonly string[]) => [
  salt,
  hashes.map((hash) => Buffer.from(hash, 'hex')),
  orgId,
]

export const countInPostgres = async (pool: Pool, sought: Sought): Promise<Map<string, Counted[]>> => {
  const counts = new Map<string, Counted[]>([...sought.persons.keys()].map((erasureId) => [erasureId, []]))
  for (const column of await findColumns(pool)) {
    const condition = isNamed(column)
    if (!condition) continue
    for (const [erasureId, hashes] of sought.persons) {
      const count = await countOf(
        pool,
        `select count(*)::integer as count from ${column.table} where ${condition}`,
        valuesOf(sought, hashes),
      )
      if (count > 0) counts.get(erasureId)?.push({ where: `${column.table}.${column.column}`, count })
    }
  }
  return counts
}

/** Records of these persons that wait are decided now: they are refused, and with that their bytes are gone. */
export const endWaits = (pool: Pool, { orgId }: Sought, erasures: readonly Erasure[]): Promise<number> => {
  return changedBy(
    pool,
    `update integrity.waiting w set due_at = now()
    where org_id = $1 and state = 'waiting'
      and exists (select from unnest($2::text[]) name where position(name in lower(encode(w.message, 'escape'))) > 0)`,
    [orgId, namesOf(erasures)],
  )
}

export const removeFromPostgres = async (pool: Pool, sought: Sought): Promise<void> => {
  const values = valuesOf(sought, [...sought.persons.values()].flat())
  const touched = new Set<string>()
  for (const column of await findColumns(pool)) {
    const condition = isNamed(column)
    if (!condition) continue
    const { table } = column
    const changed =
      column.type === 'uuid'
        ? await changedBy(
            pool,
            `delete from ${table} where ${condition} ${table === 'integrity.waiting' ? `and state <> 'waiting'` : ''}`,
            values,
          )
        : await replaceIds(pool, column, condition, values)
    if (changed > 0) touched.add(table)
  }
  // What was removed is on the disk until its page is cleaned.
  for (const table of touched) await pool.query(`vacuum ${table}`)
}

/** In place of each id of a person: nobody's. Which ids those are only their hashes tell. */
const replaceIds = async (
  pool: Pool,
  { table, column, type }: Column,
  condition: string,
  values: unknown[],
): Promise<number> => {
  const ids = await rowsOf<{ id: string }>(
    pool,
    `select distinct lower(found[1]) as id
    from ${table}, regexp_matches(${column}::text, '${anyUuid}', 'g') found
    where ${condition} and sha256($1::bytea || convert_to(lower(found[1]), 'UTF8')) = any ($2::bytea[])`,
    values,
  )
  if (ids.length === 0) return 0
  return changedBy(
    pool,
    `update ${table} set ${column} = regexp_replace(${column}::text, $4, '${nobody}', 'gi')::${type} where ${condition}`,
    [...values, ids.map(({ id }) => id).join('|')],
  )
}
