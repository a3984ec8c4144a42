import { countingRemoval } from '#ledger/entities.js'
import type { Counted } from '#ledger/erasures/erasures.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { changedBy, type Database, rowsOf } from '#platform/postgres/rows.js'
import { nobody, uuidPattern } from '#schemas/uuid.js'
import { type GivesWay, withoutRest } from '../remove/giving-way.js'
import { countRowsOf, removeRowsOf } from './rows-of-organisation.js'
import { addCounts, type Sought } from './sought.js'

// What the services' tables have of persons. Which columns there are Postgres itself is asked: so none is forgotten. A UUID in a text is
// replaced by one that is nobody's, so that a verdict or an audit row stays what it was, but for the person; a row whose own id it is goes.

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
const isNamed = (column: Column): string | undefined => {
  if (column.type === 'uuid')
    return rowsOfPersons.has(column.table)
      ? `${ofOrg(column)} and sha256($1::bytea || convert_to(${column.column}::text, 'UTF8')) = any ($2::bytea[])`
      : undefined
  return `${ofOrg(column)} and exists (
    select from ${uuidsIn(column)}
    where sha256($1::bytea || convert_to(lower(found_id[1]), 'UTF8')) = any ($2::bytea[])
  )`
}
const ofOrg = ({ hasOrg }: Column): string => (hasOrg ? 'org_id = $3' : '$3::text is not null')
const uuidsIn = ({ column }: Column): string => `regexp_matches(${column}::text, '${uuidPattern}', 'g') found_id`

const valuesOf = ({ salt, orgId }: Sought, hashes: readonly string[]) => [
  salt,
  hashes.map((hash) => Buffer.from(hash, 'hex')),
  orgId,
]

export const countInPostgres = async (
  pool: Pool,
  sought: Sought,
  givesWay: GivesWay = withoutRest,
): Promise<Map<string, Counted[]>> => {
  const counts = new Map<string, Counted[]>([...sought.persons.keys()].map((erasureId) => [erasureId, []]))
  for (const erasureId of sought.whole) counts.set(erasureId, await countRowsOf(pool, sought.orgId))
  if (sought.persons.size === 0) return counts
  for (const column of await findColumns(pool)) {
    const { table, column: name, type } = column
    if (!isNamed(column)) continue
    const [from, id] =
      type === 'uuid' ? [table, `${name}::text`] : [`${table}, ${uuidsIn(column)}`, 'lower(found_id[1])']
    const rows = await givesWay(() =>
      rowsOf<{ hash: string; count: number }>(
        pool,
        `select encode(person, 'hex') as hash, count(*)::integer as count
        from (
          select distinct ${table}.ctid, sha256($1::bytea || convert_to(${id}, 'UTF8')) as person
          from ${from} where ${ofOrg(column)}
        ) named
        where person = any ($2::bytea[])
        group by person`,
        valuesOf(sought, [...sought.persons.values()].flat()),
      ),
    )
    addCounts(sought, `${table}.${name}`, rows, counts)
  }
  return counts
}

export const removeFromPostgres = async (
  pool: Pool,
  sought: Sought,
  givesWay: GivesWay = withoutRest,
): Promise<void> => {
  if (sought.whole.length > 0) return removeRowsOf(pool, sought.orgId)
  const values = valuesOf(sought, [...sought.persons.values()].flat())
  const touched = new Set<string>()
  for (const column of await findColumns(pool)) {
    const condition = isNamed(column)
    if (!condition) continue
    const { table } = column
    const changed = await (column.type === 'uuid'
      ? givesWay(() =>
          changedBy(
            pool,
            `${table === 'integrity.entities' ? countingRemoval : ''} delete from ${table} where ${condition} ${table === 'integrity.waiting' ? `and state <> 'waiting'` : ''}`,
            values,
          ),
        )
      : replaceIds(pool, column, sought, values, givesWay))
    if (changed > 0) touched.add(table)
  }
  // What was removed is on the disk until its page is cleaned.
  for (const table of touched) await givesWay(() => pool.query(`vacuum ${table}`))
}

/** In place of each id of a person: nobody's. Which ids those are only their hashes tell. */
const replaceIds = async (
  pool: Pool,
  given: Column,
  { orgId }: Sought,
  values: unknown[],
  givesWay: GivesWay,
): Promise<number> => {
  const { table, column, type, hasOrg } = given
  const ids = await givesWay(() =>
    rowsOf<{ id: string }>(
      pool,
      `select distinct lower(found_id[1]) as id
      from ${table}, ${uuidsIn(given)}
      where ${ofOrg(given)} and sha256($1::bytea || convert_to(lower(found_id[1]), 'UTF8')) = any ($2::bytea[])`,
      values,
    ),
  )
  let changed = 0
  // A pattern of thousands is more than Postgres takes.
  for (let from = 0; from < ids.length; from += 200) {
    const pattern = ids.slice(from, from + 200).map(({ id }) => id)
    changed += await givesWay(() =>
      changedBy(
        pool,
        `update ${table} set ${column} = regexp_replace(${column}::text, $1, '${nobody}', 'gi')::${type}
        where ${column}::text ~* $1 ${hasOrg ? 'and org_id = $2' : 'and $2::text is not null'}`,
        [pattern.join('|'), orgId],
      ),
    )
  }
  return changed
}
