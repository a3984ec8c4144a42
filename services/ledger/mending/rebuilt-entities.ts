import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { rowsOf } from '#platform/postgres/rows.js'
import type { Entity } from '../entities.js'

// integrity.entities_rebuilt: a new entity index, built and swapped with the one in use by `weir rebuild index`.

export type Cursor = { topic: string; partition: number; next_offset: number }
export type NewIndex = { id: number; cursors: Cursor[] }

/**
 * Makes an empty table like the index in use. From now on every accepted entity goes into both. The cursors say up to where
 * batches were decided before that: the lock waits for the decisions under way, so that each decision is either below the
 * cursors, or its entities are copied.
 */
export const beginNewIndex = async (connection: Connection): Promise<NewIndex> => {
  await connection.query(`lock table integrity.cursors in exclusive mode`)
  await dropNewIndex(connection)
  await connection.query(`create table integrity.entities_rebuilt (like integrity.entities including all)`)
  await connection.query(likeTheOldOne)
  await connection.query(copyFunction)
  // Before, not after: where the old index holds the row already, nothing is inserted, and an after trigger would not run.
  await connection.query(`
    create trigger copy_to_rebuilt before insert on integrity.entities
    for each row execute function integrity.copy_to_rebuilt()`)
  const made = await connection.query<{ id: number }>(`select 'integrity.entities_rebuilt'::regclass::oid as id`)
  const { rows } = await connection.query<Cursor>(`select topic, partition, next_offset from integrity.cursors`)
  return { id: made.rows[0]?.id ?? 0, cursors: rows }
}

const copyFunction = `
  create function integrity.copy_to_rebuilt() returns trigger language plpgsql as $$
  begin
    insert into integrity.entities_rebuilt (org_id, type, id) values (new.org_id, new.type, new.id) on conflict do nothing;
    return new;
  end
  $$`

// The new table gets owner, grants and comment of the old one: integrity may log in as another user than the operator.
const likeTheOldOne = `
  do $$
  declare old record;
  begin
    for old in
      select format('alter table integrity.entities_rebuilt owner to %I', pg_get_userbyid(relowner)) as statement
      from pg_class
      where oid = 'integrity.entities'::regclass and pg_get_userbyid(relowner) <> current_user
      union all
      select format('grant %s on integrity.entities_rebuilt to %s', privilege_type,
        case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end)
      from pg_class, aclexplode(relacl)
      where oid = 'integrity.entities'::regclass
      union all
      select format('comment on table integrity.entities_rebuilt is %L', obj_description('integrity.entities'::regclass))
    loop
      execute old.statement;
    end loop;
  end
  $$`

// In the order in which integrity inserts: both may write the same rows, and in another order they would deadlock.
export const insertRebuilt = async (connection: Connection, rows: readonly Entity[]): Promise<void> => {
  await connection.query({
    name: 'insert-rebuilt',
    text: `
      insert into integrity.entities_rebuilt (org_id, type, id)
      select distinct * from unnest($1::text[], $2::text[], $3::uuid[]) as given (org_id, type, id)
      order by 1, 2, 3
      on conflict do nothing`,
    values: [rows.map((r) => r.orgId), rows.map((r) => r.type), rows.map((r) => r.id)],
  })
}

export type Comparison = {
  type: string
  /** How many entities the new index holds. */
  entities: number
  /** How many of these the old index lacks. */
  added: number
  /** How many entities of the old index are on no topic. */
  removed: number
}

/** Both tables are written in the same transactions, and one query sees both at the same moment. */
export const compareIndexes = (pool: Pool): Promise<Comparison[]> =>
  rowsOf(
    pool,
    `select type, count(rebuilt.id) as entities,
      count(*) filter (where present.id is null) as added, count(*) filter (where rebuilt.id is null) as removed
    from integrity.entities present
    full join integrity.entities_rebuilt rebuilt using (org_id, type, id)
    group by type
    order by type`,
  )

/**
 * Puts the new index in the old one's place. While the cursors are locked no decision is under way, so that each decision
 * uses either the old index or the new one, never both. The primary key is renamed too: the next rebuild needs its name.
 * False, and nothing is changed, where another rebuild has begun meanwhile with a table of its own.
 */
export const swapIndex = async (connection: Connection, id: number): Promise<boolean> => {
  await connection.query(`lock table integrity.cursors in exclusive mode`)
  // A rebuild that lost its connection has lost its lock: the table may be that of another rebuild, half filled.
  const { rows } = await connection.query<{ id: number | null }>(
    `select to_regclass('integrity.entities_rebuilt')::oid as id`,
  )
  if (rows[0]?.id !== id) return false
  await connection.query(`drop table integrity.entities`)
  await connection.query(`drop function integrity.copy_to_rebuilt()`)
  await connection.query(`alter table integrity.entities_rebuilt rename to entities`)
  await connection.query(`alter index integrity.entities_rebuilt_pkey rename to entities_pkey`)
  return true
}

/** Removes everything that a rebuild makes, also what a rebuild that was cut off has left behind. */
export const dropNewIndex = async (connection: Connection): Promise<void> => {
  await connection.query(`drop trigger if exists copy_to_rebuilt on integrity.entities`)
  await connection.query(`drop function if exists integrity.copy_to_rebuilt()`)
  await connection.query(`drop table if exists integrity.entities_rebuilt`)
}
