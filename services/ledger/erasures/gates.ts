import { createHash } from 'node:crypto'
import { changedBy, type Database, firstRow, rowsOf } from '#platform/postgres/rows.js'

// erasure.gates, erasure.persons: whose records are refused. Only hashes are kept, so that the list of those who are to be forgotten names
// none of them.

/** Whom an organisation has had erased. `closed`: the hash by which all of the organisation is, where it is deleted. */
export type Gate = { salt: Buffer; hashes: ReadonlySet<string>; closed?: string | undefined }
export type Gates = { of: (db: Database, orgIds: readonly string[]) => Promise<ReadonlyMap<string, Gate>> }

/** UUIDs are the same person in either case. Postgres and ClickHouse can make these hashes too: so a proof needs no names. */
export const hashOfName = (salt: Buffer, name: string): Buffer =>
  createHash('sha256').update(salt).update(asHashed(name)).digest()

/**
 * A name as it is hashed: a UUID in lower case, however it was written, and any other text as it is. Told by its length in bytes, and for A to Z
 * alone: so that ClickHouse, whose `lower` knows no other letters, does the same.
 */
export const asHashed = (name: string): string =>
  Buffer.byteLength(name) === uuidLength ? name.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : name
export const asHashedSql = (name: string): string => `if(length(${name}) = ${uuidLength}, lower(${name}), ${name})`
const uuidLength = 36

/** What stands for an organisation as a whole among its persons: nobody's id can be this, since none has a zero in it. */
export const nameOfAll = (orgId: string): string => `\0${orgId}`

/** The hash of a name that is behind the gate. */
export const hashBehind = ({ salt, hashes }: Pick<Gate, 'salt' | 'hashes'>, name: string): string | undefined => {
  const hash = hashOfName(salt, name).toString('hex')
  return hashes.has(hash) ? hash : undefined
}

/** Asked in each transaction, so that no decision relies on what was known before; the hashes are read only where they have changed. */
export const createGates = (): Gates => {
  const known = createKnownGates()
  return {
    of: async (db, orgIds) => {
      const found = await rowsOf<{ org_id: string; change: number }>(db, {
        name: 'find-gates',
        text: `select org_id, change from erasure.gates where org_id = any ($1)`,
        values: [orgIds],
      })
      const gates = new Map<string, Gate>()
      for (const { org_id: orgId, change } of found) gates.set(orgId, await known.of(db, orgId, change))
      return gates
    },
  }
}

export const noGates: Gates = { of: async () => new Map() }

/** The gates that were read, each until it has changed. */
export const createKnownGates = () => {
  const known = new Map<string, { change: number; gate: Gate }>()
  return {
    of: async (db: Database, orgId: string, change: number): Promise<Gate> => {
      const before = known.get(orgId)
      if (before?.change === change) return before.gate
      const gate = await readGate(db, orgId)
      known.set(orgId, { change, gate })
      return gate
    },
    last: (orgId: string): Gate | undefined => known.get(orgId)?.gate,
  }
}

const readGate = async (db: Database, orgId: string): Promise<Gate> => {
  const rows = await rowsOf<{ salt: Buffer; hash: string | null }>(
    db,
    `select salt, encode(name_sha256, 'hex') as hash
    from erasure.gates left join erasure.persons using (org_id)
    where org_id = $1`,
    [orgId],
  )
  const salt = rows[0]?.salt ?? Buffer.alloc(0)
  const hashes = new Set(rows.flatMap(({ hash }) => (hash === null ? [] : [hash])))
  return { salt, hashes, closed: hashBehind({ salt, hashes }, nameOfAll(orgId)) }
}

/** Notes that records of these persons came and were refused: they lie in the log now. */
export const noteSeen = (db: Database, seen: readonly { orgId: string; hash: string }[]): Promise<number> =>
  changedBy(
    db,
    `update erasure.persons p set seen_at = now()
    from unnest($1::text[], $2::text[]) given (org_id, hash)
    where p.org_id = given.org_id and p.name_sha256 = decode(given.hash, 'hex')`,
    [seen.map(({ orgId }) => orgId), seen.map(({ hash }) => hash)],
  )

/** The salt of an organisation, which is made when it first has somebody erased. */
export const saltOf = async (db: Database, orgId: string): Promise<Buffer> => {
  const insert = `
    insert into erasure.gates (org_id, salt, change)
    values ($1, sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')), 0)
    on conflict (org_id) do update set change = gates.change
    returning salt`
  const find = 'select salt from erasure.gates where org_id = $1'
  // To insert again would lock the row: who asks for many at once would wait for each.
  const row =
    (await firstRow<{ salt: Buffer }>(db, find, [orgId])) ?? (await firstRow<{ salt: Buffer }>(db, insert, [orgId]))
  if (!row) throw new Error(`there is no organisation ${orgId}`)
  return row.salt
}

/** From the commit on, what names this person is refused. */
export const closeGate = async (
  db: Database,
  orgId: string,
  behind: readonly { name: string; erasureId: string }[],
): Promise<void> => {
  const salt = await saltOf(db, orgId)
  // Of several erasures of one name the last one has it.
  const erasures = new Map(behind.map(({ name, erasureId }) => [hashOfName(salt, name).toString('hex'), erasureId]))
  await db.query(
    `insert into erasure.persons (org_id, name_sha256, erasure_id)
    select $1, decode(hash, 'hex'), erasure_id from unnest($2::text[], $3::uuid[]) as given (hash, erasure_id)
    on conflict (org_id, name_sha256) do update set erasure_id = excluded.erasure_id`,
    [orgId, [...erasures.keys()], [...erasures.values()]],
  )
  await noteChange(db, orgId)
}

/** From the commit on, what names this person is accepted again, as that of somebody new. */
export const openGate = async (db: Database, orgId: string, erasureId: string): Promise<void> => {
  await changedBy(db, `delete from erasure.persons where org_id = $1 and erasure_id = $2`, [orgId, erasureId])
  await noteChange(db, orgId)
}

export const noteChange = (db: Database, orgId: string): Promise<number> =>
  changedBy(db, `update erasure.gates set change = change + 1 where org_id = $1`, [orgId])
