import { changedBy, type Database, firstRow } from '#platform/postgres/rows.js'
import type { ErasedEvent } from '#schemas/events.js'
import { closeOrg } from '../organisations.js'
import { noteChange } from './gates.js'

/** Adds an erasure that this Postgres does not know, to be done once more; and closes the gate. */
export const takeUpErasure = async (
  db: Database,
  event: ErasedEvent,
): Promise<'known' | 'no organisation' | 'another salt' | 'maybe somebody new' | 'taken up'> => {
  const { org_id: org, erasure_id: id } = event
  if (await firstRow(db, 'select from erasure.erasures where erasure_id = $1', [id])) return 'known'
  if (!(await firstRow(db, 'select from auth.organisations where org_id = $1', [org]))) return 'no organisation'
  // What came since counts as that of somebody new, and would go too.
  if (event.afterwards !== 'refuse') return 'maybe somebody new'
  const salt = Buffer.from(event.salt, 'hex')
  await changedBy(
    db,
    'insert into erasure.gates (org_id, salt, change) values ($1, $2, 0) on conflict (org_id) do nothing',
    [org, salt],
  )
  const gate = await firstRow<{ salt: Buffer }>(db, 'select salt from erasure.gates where org_id = $1 for update', [
    org,
  ])
  // Somebody was erased since it was put back, and before this was looked at.
  if (!gate?.salt.equals(salt)) return 'another salt'
  const hashes = event.ids_sha256.map((hash) => Buffer.from(hash, 'hex'))
  const inserted = await changedBy(
    db,
    `insert into erasure.erasures
      (erasure_id, org_id, mode, afterwards, is_dry_run, known, person_sha256, names_sha256, asked_by, asked_at)
    values ($1, $2, $3, $4, false, '{"customerIds": [], "userIds": []}', $5, $6, 'weir.erasures', $7)
    on conflict do nothing`,
    [id, org, event.mode, event.afterwards, hashes[0] ?? Buffer.alloc(0), hashes, new Date(event.erased_at)],
  )
  if (inserted === 0) return 'known'
  await db.query(
    `insert into erasure.persons (org_id, name_sha256, erasure_id)
    select $1, hash, $3::uuid from unnest($2::bytea[]) hash
    on conflict do nothing`,
    [org, hashes, id],
  )
  await noteChange(db, org)
  if (event.mode === 'organisation') await closeOrg(db, org)
  return 'taken up'
}
