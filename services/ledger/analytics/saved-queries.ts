import { changedBy, type Database, firstRow, rowsOf } from '#platform/postgres/rows.js'

// query.saved_queries: the queries that the people of an organisation share.

export type SavedQueryRow = {
  name: string
  query: string
  about: string | null
  version: number
  saved_at: Date
  saved_by: string
}

const columns = `name, query, about, version, saved_at,
    coalesce((select k.name from auth.api_keys k where k.key_id = saved_by), saved_by) as saved_by`

export const listSavedQueries = (db: Database, org: string): Promise<SavedQueryRow[]> =>
  rowsOf(db, `select ${columns} from query.saved_queries where org_id = $1 order by name`, [org])

type QueryToSave = { org: string; name: string; query: string; about: string | null; keyId: string }

/** Undefined where there is one of this name already, or where the organisation has `most` of them. */
export const addSavedQuery = (
  db: Database,
  { org, name, query, about, keyId, most }: QueryToSave & { most: number },
): Promise<SavedQueryRow | undefined> =>
  firstRow(
    db,
    `insert into query.saved_queries (org_id, name, query, about, saved_by)
    select $1, $2, $3, $4, $5
    where $6 > (select count(*) from query.saved_queries where org_id = $1)
    on conflict do nothing
    returning ${columns}`,
    [org, name, query, about, keyId, most],
  )

/** Undefined where there is none of this name and version. */
export const replaceSavedQuery = (
  db: Database,
  { org, name, query, about, keyId, version }: QueryToSave & { version: number },
): Promise<SavedQueryRow | undefined> =>
  firstRow(
    db,
    `update query.saved_queries
    set query = $3, about = $4, saved_by = $5, saved_at = now(), version = version + 1
    where org_id = $1 and name = $2 and version = $6
    returning ${columns}`,
    [org, name, query, about, keyId, version],
  )

export const findSavedQuery = (db: Database, org: string, name: string): Promise<SavedQueryRow | undefined> =>
  firstRow(db, `select ${columns} from query.saved_queries where org_id = $1 and name = $2`, [org, name])

/** Whether there was one. */
export const deleteSavedQuery = async (db: Database, org: string, name: string): Promise<boolean> =>
  (await changedBy(db, `delete from query.saved_queries where org_id = $1 and name = $2`, [org, name])) > 0
