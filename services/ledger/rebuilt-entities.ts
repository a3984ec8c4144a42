import type { Connection, Pool } from '#platform/postgres/postgres.js'
import type { Entity } from './entities.js'

// integrity.entities_rebuilt: the entity index made anew beside the one in use, for `weir rebuild index`.

export type Cursor = { topic: string; partition: number; next_offset: number }
export type NewIndex = { id: number; cursors: Cursor[] }

/**
 * An empty table of the same make, which from now on gets whatever is accepted; and the cursors, below which everything was
 * decided before. The lock lets every decision under way end first: each is either below the cursors, or copied.
 */
export const beginNewIndex = async (connection: Connection): Promise<NewIndex> => {
  await connection.query(`lock table integrity.cursors in exclusive mode`)
  await dropNewIndex(connection)
  await connection.query(`create table integrity.entities_rebuilt (like integrity.entities including all)`)
  await connection.query(likeTheOldOne)
  await connection.query(copyFunction)
  // Before, not after: a row that the old index holds already is not inserted, and would not be told of afterwards.
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

// Whoever may use the old table may use the new one: integrity need not log in as the operator does.
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
    loop
      execute old.statement;
    end loop;
  end
  $$`

// In the order that integrity inserts in: it may be writing the same rows, and neither must wait for the other in a ring.
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
  /** How many the new index holds. */
  entities: number
  /** Of these, how many the old one lacks. */
  added: number
  /** How many the old one holds that no topic knows of. */
  removed: number
}

/** Both are written in the same transactions, so one query sees the two as they were at one moment. */
export const compareIndexes = async (pool: Pool): Promise<Comparison[]> => {
  const { rows } = await pool.query<Comparison>(`
    select type, count(rebuilt.id) as entities,
      count(*) filter (where present.id is null) as added, count(*) filter (where rebuilt.id is null) as removed
    from integrity.entities present
    full join integrity.entities_rebuilt rebuilt using (org_id, type, id)
    group by type
    order by type`)
  return rows
}

/**
 * Puts the new index in the old one's place. With the cursors locked no decision is under way: each is taken wholly by the
 * old index or wholly by the new one. The key is renamed too, so that the next rebuild finds its own name free.
 * False, and nothing changed, where another rebuild has put its own table there meanwhile.
 */
export const swapIndex = async (connection: Connection, id: number): Promise<boolean> => {
  await connection.query(`lock table integrity.cursors in exclusive mode`)
  // A rebuild that lost its connection has lost its lock: the table may be another rebuild's, half filled.
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

/** Takes away all that a rebuild of the index makes, also that of one which was cut off. */
export const dropNewIndex = async (connection: Connection): Promise<void> => {
  await connection.query(`drop trigger if exists copy_to_rebuilt on integrity.entities`)
  await connection.query(`drop function if exists integrity.copy_to_rebuilt()`)
  await connection.query(`drop table if exists integrity.entities_rebuilt`)
}
