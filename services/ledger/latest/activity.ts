import type { Pool } from '#platform/postgres/postgres.js'
import { rowsOf } from '#platform/postgres/rows.js'

// What was decided for an organisation lately, type by type: the index verdicts_of_organisation leads to each.

/** What was decided in a stretch of time; `waiting` are the records that began to wait. */
export type DecidedCount = { at: Date; type: string; accepted: number; refused: number; waiting: number }

// A batch that is decided anew (a request by itself) holds records that waited before.
const begunToWait = 'case when v.request_id = v.batch_id then 0 else coalesce(json_array_length(v.waiting), 0) end'

/** How much was decided in each stretch of `seconds`, from `from` until before `until`; empty stretches are left out. */
export const countDecided = (
  pool: Pool,
  asked: { orgId: string; types: readonly string[]; from: Date; until: Date; seconds: number },
): Promise<DecidedCount[]> =>
  rowsOf(pool, {
    name: 'count-decided',
    text: `
      select to_timestamp(floor(extract(epoch from v.decided_at) / $5) * $5) as at, v.type,
        sum(v.accepted) as accepted, sum(json_array_length(v.refused)) as refused, sum(${begunToWait}) as waiting
      from unnest($2::text[]) as wanted (type)
      join integrity.verdicts v on v.type = wanted.type
      where v.org_id = $1 and v.decided_at >= $3 and v.decided_at < $4
      group by 1, 2`,
    values: [asked.orgId, asked.types, asked.from, asked.until, asked.seconds],
  })

/** A batch that was decided just now. */
export type DecidedBatch = DecidedCount & { batchId: string }

/** The batches that were decided since then, at most `most` of them. */
export const findDecidedSince = (
  pool: Pool,
  asked: { orgId: string; types: readonly string[]; since: Date; most: number },
): Promise<DecidedBatch[]> =>
  rowsOf(pool, {
    name: 'find-decided-since',
    text: `
      select v.batch_id as "batchId", v.decided_at as at, v.type, v.accepted, json_array_length(v.refused) as refused,
        ${begunToWait} as waiting
      from unnest($2::text[]) as wanted (type)
      join integrity.verdicts v on v.type = wanted.type
      where v.org_id = $1 and v.decided_at >= $3
      limit $4`,
    values: [asked.orgId, asked.types, asked.since, asked.most],
  })

/** When a record of each of these types was last accepted; null where none was, for as long as verdicts are kept. */
export const findLastAccepted = (
  pool: Pool,
  orgId: string,
  types: readonly string[],
): Promise<{ type: string; lastAcceptedAt: Date | null }[]> =>
  rowsOf(pool, {
    name: 'find-last-accepted',
    text: `
      select wanted.type, last.decided_at as "lastAcceptedAt"
      from unnest($2::text[]) with ordinality as wanted (type, place)
      left join lateral (
        select v.decided_at
        from integrity.verdicts v
        where v.org_id = $1 and v.type = wanted.type and v.accepted > 0
        order by v.decided_at desc
        limit 1
      ) as last on true
      order by wanted.place`,
    values: [orgId, types],
  })
