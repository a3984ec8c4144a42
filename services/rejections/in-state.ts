import { findRetriedPlaces, type RetriedPlaces } from '#ledger/retries/retried.js'
import { stateTableOf } from '#schemas/derive/clickhouse.js'
import { database, rejectionsLog, waitingView } from '#schemas/derive/names.js'
import { type Condition, type Filter, whereOf } from './filter.js'
import { countByType, type Reader } from './find-rejections.js'
import type { Sources } from './plan-retry.js'
import type { RejectionState } from './states.js'

// The states of all rejections that a filter means, found by ClickHouse itself: there may be a million of them. `findStates` finds
// those of a page, with what is known of each retry.

/** What can be asked for. Each rejection is open, retried or resolved. */
export type AskedState = RejectionState | 'resolved'

const statesOf = (asked: AskedState): readonly RejectionState[] =>
  asked === 'resolved' ? ['accepted_since', 'overtaken'] : [asked]

/** So many were submitted again in the time that is asked about that they cannot be told to ClickHouse. */
export class TooManyRetried extends Error {}

/** How many retried rejections are told to ClickHouse with a question: a few megabytes of text. */
const mostRetried = 100_000

/** The condition for rejections to be in a state; it holds among those whose states were found out. */
export const inState = (stated: Stated | undefined, asked: AskedState): Condition => {
  if (!stated || (asked !== 'open' && !stated.hasAllRetried))
    throw new TooManyRetried('too many records of this time were submitted again')
  return {
    where: `(batch_id, index) in (select batch_id, index from (${stated.sql}) where state in {states:Array(String)})`,
    values: { ...stated.values, states: statesOf(asked) },
    settings: stated.settings,
  }
}

/** How many rejections are in each state; null where too many were submitted again to tell. */
export type StateCounts = Record<'open' | 'retried' | 'resolved', number | null>

export const countStates = async (clickhouse: Reader, stated: Stated | undefined): Promise<StateCounts> => {
  if (!stated) return { open: null, retried: null, resolved: null }
  const rows = await clickhouse.query<{ state: RejectionState; rows: number }>(
    `select state, toUInt32(count()) as rows from (${stated.sql}) group by state`,
    stated.values,
    stated.settings,
  )
  const countOf = (asked: AskedState) =>
    rows.filter(({ state }) => statesOf(asked).includes(state)).reduce((sum, row) => sum + row.rows, 0)
  return {
    open: countOf('open'),
    retried: stated.hasAllRetried ? countOf('retried') : null,
    resolved: stated.hasAllRetried ? countOf('resolved') : null,
  }
}

/** A question that gives each rejection with its state; without all that were retried, it tells only which are open. */
export type Stated = Required<Omit<Condition, 'where'>> & { sql: string; hasAllRetried: boolean }

/**
 * Prepares that question for the rejections that a filter means; undefined where too many were submitted again. As in `findStates`,
 * places in the log tell what came later, and a record that waits came later.
 */
export const findOutStates = async (
  sources: Sources,
  filter: Omit<Filter, 'within'> & { org: string },
  most = mostRetried,
): Promise<Stated | undefined> => {
  const retried = await findRetriedPlaces(sources.pool, filter, most)
  if (!retried) return undefined
  const { where, values } = whereOf(filter)
  const present = await countByType(sources.clickhouse, filter)
  const types = [...sources.catalogue.all.values()].filter(({ type }) => present.has(type))
  const rejections = `${database}.${rejectionsLog} final where ${where}`
  const uuid = 'toUUIDOrNull(id)'
  const accepted = types.map(
    (type) => `select '${type.type}' as type, \`${type.id}\` as uuid, max(version) as accepted_version
      from ${database}.${stateTableOf(type)}
      where org_id = {org:String} and \`${type.id}\` in (
        select assumeNotNull(${uuid}) from ${rejections} and type = '${type.type}' and ${uuid} is not null
      )
      group by uuid`,
  )
  const sql = `
    select r.batch_id as batch_id, r.index as index, multiIf(
      (r.batch_id, r.index) in (${placesSql(retried.places)}), 'retried',
      a.accepted_version > r.version, 'accepted_since',
      n.refused_version > r.version or w.waits = 1, 'overtaken',
      'open') as state
    from (select toString(type) as type, batch_id, index, version, ${uuid} as uuid from ${rejections}) as r
    left join (${accepted.join(' union all ') || noneAccepted}) as a on a.type = r.type and a.uuid = r.uuid
    left join (
      select toString(type) as type, assumeNotNull(${uuid}) as uuid, max(version) as refused_version
      from ${database}.${rejectionsLog}
      where org_id = {org:String} and ${uuid} is not null${filter.since ? ` and rejected_at >= ${since}` : ''}
      group by type, uuid
    ) as n on n.type = r.type and n.uuid = r.uuid
    left join (
      select distinct toString(type) as type, id as uuid, 1 as waits from ${database}.${waitingView} where org_id = {org:String}
    ) as w on w.type = r.type and w.uuid = r.uuid`
  return {
    sql,
    values,
    settings: { max_query_size: 16_000_000 },
    hasAllRetried: retried.areAll,
  }
}

const since = `fromUnixTimestamp64Milli({since:Int64}, 'UTC')`
const noneAccepted =
  "select '' as type, toUUID('00000000-0000-0000-0000-000000000000') as uuid, toUInt64(0) as accepted_version"

// As one text, which costs ClickHouse nothing to parse: batch:index,index;batch:index …
const placesSql = (places: RetriedPlaces['places']): string => {
  const text = [...places].map(([batchId, indexes]) => `${batchId}:${indexes.join(',')}`).join(';')
  return `
  select toUUID(splitByChar(':', batch)[1]), toUInt32(arrayJoin(splitByChar(',', splitByChar(':', batch)[2])))
  from (select arrayJoin(splitByChar(';', '${text}')) as batch) where batch != ''`
}
