import type { Connection } from '#platform/postgres/postgres.js'
import { dropNewIndex } from './drop-new-index.js'

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
