import { findRetries, type Retry, rejectionName } from '#ledger/retries/claims.js'
import { findIdsThatWait } from '#ledger/waiting/look-up.js'
import { groupBy } from '#platform/group-by.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { stateTableOf } from '#schemas/derive/clickhouse.js'
import { database, rejectionsLog } from '#schemas/derive/names.js'
import type { RecordType } from '#schemas/record.js'
import { isUuid } from '#schemas/uuid.js'
import type { Reader, Rejection } from './find-rejections.js'
import type { Sources } from './plan-retry.js'

/**
 * What has happened since a record was refused.
 * - `retried`: it was submitted again by a retry; the retry says what that brought.
 * - `accepted_since`: a later record of the same id was accepted. To submit this one again would turn the clock back.
 * - `overtaken`: no later record of its id was accepted, but one was refused, or waits: that newer one is the one to look at.
 * - `open`: none of these.
 */
export type RejectionState = 'open' | 'retried' | 'accepted_since' | 'overtaken'

/** The states of some rejections of one organisation, in their order; and the version that each id was last accepted with. */
export const findStates = async (
  { pool, clickhouse, catalogue }: Sources,
  org: string,
  rejections: readonly Rejection[],
): Promise<{ state: RejectionState; retry: Retry | undefined; currentVersion: number | null }[]> => {
  const retries = await findRetries(pool, rejections)
  const rest = rejections.filter((one) => !retries.has(rejectionName(one)))
  const refused = await newestRefused(clickhouse, org, rest)
  const accepted = await newestAccepted(clickhouse, [...catalogue.all.values()], org, rejections)
  const waiting = await waitingNow(pool, org, rest)
  return rejections.map((one) => {
    const retry = retries.get(rejectionName(one))
    const isLater = (newest: Map<string, number>) => (newest.get(nameOf(one)) ?? 0) > one.version
    const currentVersion = accepted.get(nameOf(one)) ?? null
    if (retry) return { state: 'retried', retry, currentVersion }
    const state = isLater(accepted)
      ? 'accepted_since'
      : isLater(refused) || waiting.has(nameOf(one))
        ? 'overtaken'
        : 'open'
    return { state, retry: undefined, currentVersion }
  })
}

type NewestRow = { type: string; id: string; version: string }

/** The version that each of these ids was last accepted with, of all types in one statement: a page may hold many types. */
const newestAccepted = async (
  clickhouse: Reader,
  types: readonly RecordType[],
  org: string,
  rejections: readonly Rejection[],
): Promise<Map<string, number>> => {
  const wanted = types.flatMap((type) => {
    const ids = idsOf(rejections.filter((one) => one.type === type.type))
    return ids.length > 0 ? [{ type, ids }] : []
  })
  if (wanted.length === 0) return new Map()
  const rows = await clickhouse.query<NewestRow>(
    wanted
      .map(
        ({ type }, i) => `select '${type.type}' as type, toString(\`${type.id}\`) as id, max(version) as version
      from ${database}.${stateTableOf(type)}
      where org_id = {org:String} and \`${type.id}\` in {ids_${i}:Array(UUID)}
      group by id`,
      )
      .join('\nunion all\n'),
    { org, ...Object.fromEntries(wanted.map(({ ids }, i) => [`ids_${i}`, ids])) },
  )
  return new Map(rows.map((row) => [nameOf(row), Number(row.version)]))
}

/** The newest rejection of each of these ids: its version. */
const newestRefused = async (
  clickhouse: Reader,
  org: string,
  rejections: readonly Rejection[],
): Promise<Map<string, number>> => {
  const ids = idsOf(rejections)
  if (ids.length === 0) return new Map()
  const rows = await clickhouse.query<NewestRow>(
    `select type, lower(assumeNotNull(id)) as id, max(version) as version
    from ${database}.${rejectionsLog}
    where org_id = {org:String} and rejected_at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')
      and lower(assumeNotNull(id)) in {ids:Array(String)}
    group by type, id`,
    { org, since: Math.min(...rejections.map(({ rejectedAt }) => rejectedAt.getTime())), ids },
  )
  return new Map(rows.map((row) => [nameOf(row), Number(row.version)]))
}

/** Which of these ids belong to a record that waits: it came later, since a refusal that comes later ends the waiting. */
const waitingNow = async (pool: Pool, org: string, rejections: readonly Rejection[]): Promise<Set<string>> => {
  const names = new Set<string>()
  for (const [type, own] of groupBy(rejections, (one) => one.type)) {
    const wanted = idsOf(own).map((id) => ({ orgId: org, id }))
    for (const name of await findIdsThatWait(pool, type, wanted))
      names.add(nameOf({ type, id: name.slice(org.length + 1) }))
  }
  return names
}

// What is no UUID is no id: nothing can be accepted under it.
const idsOf = (rejections: readonly Rejection[]): string[] => [
  ...new Set(rejections.flatMap(({ id }) => (id !== null && isUuid(id) ? [id.toLowerCase()] : []))),
]

const nameOf = ({ type, id }: { type: string; id: string | null }): string => `${type}/${id?.toLowerCase()}`
