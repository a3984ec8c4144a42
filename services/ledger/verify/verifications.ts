import type { Pool } from '#platform/postgres/postgres.js'
import { firstRow } from '#platform/postgres/rows.js'

// operator.verifications: what `weir verify` found the last times.

export type Verification = { ran_at: Date; since: Date; until: Date; differences: number; is_clean: boolean }

/** Notes a run over all organisations and types, and forgets all but the last hundred. */
export const noteVerification = async (db: Pool, found: Omit<Verification, 'ran_at'>): Promise<void> => {
  await db.query(
    `with noted as (
      insert into operator.verifications (since, until, differences, is_clean)
      values ($1, $2, $3, $4)
      on conflict (ran_at) do nothing
    )
    delete from operator.verifications
    where ran_at <= (select ran_at from operator.verifications order by ran_at desc offset 99 limit 1)`,
    [found.since, found.until, found.differences, found.is_clean],
  )
}

/** The newest run; undefined where there was none. */
export const findLastVerification = (db: Pool): Promise<Verification | undefined> =>
  firstRow(
    db,
    `select ran_at, since, until, differences, is_clean from operator.verifications order by ran_at desc limit 1`,
  )
