import type { Connection, Pool } from '#platform/postgres/postgres.js'
import { firstRow, listsOf } from '#platform/postgres/rows.js'
import type { VerdictEvent } from '#schemas/events.js'
import { fromRow, type VerdictRow, verdictColumns } from './verdicts.js'
import { millisecondsOf } from './waiting/waits.js'

// Interactions that came with an Idempotency-Key.
// integrity.keyed_interactions: those that were taken. Each is taken once.
// integrity.keyed_requests: in which batch the verdict on each is, by the request id that is derived from the key.

export type Keyed = { orgId: string; id: string }

/** SHA-256 of the bodies that these interactions came with when they were taken, by `org/id`; absent where they were not. */
export const findKeyedInteractions = async (
  connection: Connection,
  keyed: readonly Keyed[],
): Promise<Map<string, Buffer>> => {
  if (keyed.length === 0) return new Map()
  const { rows } = await connection.query<{ org_id: string; interaction_id: string; body_sha256: Buffer }>({
    name: 'find-keyed-interactions',
    text: `
      select k.org_id, k.interaction_id, k.body_sha256
      from unnest($1::text[], $2::uuid[]) as wanted (org_id, interaction_id)
      join integrity.keyed_interactions k using (org_id, interaction_id)`,
    values: listsOf(keyed, 'orgId', 'id'),
  })
  return new Map(rows.map((row) => [`${row.org_id}/${row.interaction_id}`, row.body_sha256]))
}

/** An interaction that came with an Idempotency-Key and was taken. */
export type KeyedInteraction = { bodySha256: Buffer; recordedAt: number }

export const findKeyedInteraction = (
  pool: Pool,
  orgId: string,
  interactionId: string,
): Promise<KeyedInteraction | undefined> =>
  firstRow(pool, {
    name: 'find-keyed-interaction',
    text: `
      select body_sha256 as "bodySha256", ${millisecondsOf('recorded_at')} as "recordedAt"
      from integrity.keyed_interactions
      where org_id = $1 and interaction_id = $2::uuid`,
    values: [orgId, interactionId],
  })

export type TakenInteraction = Keyed & KeyedInteraction

export const insertKeyedInteractions = async (
  connection: Connection,
  taken: readonly TakenInteraction[],
): Promise<void> => {
  if (taken.length === 0) return
  await connection.query({
    name: 'insert-keyed-interactions',
    text: `
      insert into integrity.keyed_interactions (org_id, interaction_id, body_sha256, recorded_at)
      select * from unnest($1::text[], $2::uuid[], $3::bytea[], $4::timestamptz[])
      on conflict do nothing`,
    values: [...listsOf(taken, 'orgId', 'id', 'bodySha256'), taken.map((t) => new Date(t.recordedAt))],
  })
}

/** Where the verdict on an interaction is: in which batch, and at which place in it. */
export type DecidedRequest = {
  requestId: string
  batchId: string
  place: number
  isAccepted: boolean
  decidedAt: number
}

export const insertKeyedRequests = async (
  connection: Connection,
  decided: readonly DecidedRequest[],
): Promise<void> => {
  if (decided.length === 0) return
  await connection.query({
    name: 'insert-keyed-requests',
    text: `
      insert into integrity.keyed_requests (request_id, batch_id, place, is_accepted, decided_at)
      select * from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::boolean[], $5::timestamptz[])
      on conflict do nothing`,
    values: [
      ...listsOf(decided, 'requestId', 'batchId', 'place', 'isAccepted'),
      decided.map((d) => new Date(d.decidedAt)),
    ],
  })
}

/** The verdict on the batch that an interaction was gathered in, and its place in that batch. */
export type PlaceInVerdict = { verdict: VerdictEvent; place: number }

/** What became of a keyed interaction. Of several verdicts the one that accepted it counts, or else the last. */
export const findKeyedRequest = async (
  pool: Pool,
  orgId: string,
  requestId: string,
): Promise<PlaceInVerdict | undefined> => {
  const row = await firstRow<VerdictRow & { place: number }>(pool, {
    name: 'find-keyed-request',
    text: `
      select ${verdictColumns}, place
      from (
        select batch_id, place, is_accepted
        from integrity.keyed_requests
        where request_id = $1::uuid
      ) decided
      join integrity.verdicts using (batch_id)
      where org_id = $2
      order by is_accepted desc, decided_at desc, submitted_offset desc, place desc
      limit 1`,
    values: [requestId, orgId],
  })
  if (!row) return undefined
  const { place, ...verdict } = row
  return { verdict: fromRow(verdict), place }
}
