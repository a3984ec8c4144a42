import { describeOrgs, listOrgIds } from '#ledger/organisations.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { type Reader, readTime } from '#rejections/find-rejections.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { database, logTableOf, rejectionsLog, waitingView } from '#schemas/derive/names.js'

/** What an organisation sent in some time, and what waits of it now. */
export type OrgVolume = { org: string; accepted: number; refused: number; waiting: number; oldestWait: Date | null }

/** Where a page ended: a number of records, and an organisation that sent as many. */
export type AfterVolume = { volume: number; org: string }

type Asked = { since: Date; prefix: string; after: AfterVolume | undefined; most: number }

export type OrgFigures = ReturnType<typeof createOrgFigures>

/** Whatever the number of organisations: one question for all that was sent, one for all that waits, one for all ids. */
export const createOrgFigures = (deps: { pool: Pool; clickhouse: Reader; catalogue: Catalogue }) => {
  const { pool, clickhouse } = deps
  // Rows are counted as they lie there. To count those once that were written twice needed memory for every batch: a gigabyte was not
  // enough for four million of them.
  const decidedSince = (table: string, time: string, accepted: string, refused: string) =>
    `select org_id, ${accepted} as accepted, ${refused} as refused
    from ${database}.${table}
    where ${time} >= fromUnixTimestamp64Milli({since:Int64}, 'UTC') and startsWith(org_id, {prefix:String})
    group by org_id`
  const sentSql = `select org_id as org, toFloat64(sum(accepted)) as accepted, toFloat64(sum(refused)) as refused
    from (${[
      ...[...deps.catalogue.all.keys()].map((type) =>
        decidedSince(logTableOf(type), 'accepted_at', 'count()', 'toUInt64(0)'),
      ),
      decidedSince(rejectionsLog, 'rejected_at', 'toUInt64(0)', 'count()'),
    ].join(' union all ')})
    group by org_id`

  return async ({ since, prefix, after, most }: Asked) => {
    const [ids, sent, waiting] = await Promise.all([
      listOrgIds(pool, prefix),
      clickhouse.query<{ org: string; accepted: number; refused: number }>(sentSql, { since: since.getTime(), prefix }),
      clickhouse.query<{ org: string; waiting: number; oldest: string }>(
        `select org_id as org, toFloat64(count()) as waiting, min(since) as oldest
        from ${database}.${waitingView}
        where startsWith(org_id, {prefix:String})
        group by org_id`,
        { prefix },
      ),
    ])
    const volumes = new Map(ids.map((org): [string, OrgVolume] => [org, { org, ...nothing }]))
    // What was sent without a key may be of an organisation that has no row of its own.
    const of = (org: string) => volumes.get(org)
    for (const { org, accepted, refused } of sent) Object.assign(of(org) ?? {}, { accepted, refused })
    for (const { org, waiting: count, oldest } of waiting)
      Object.assign(of(org) ?? {}, { waiting: count, oldestWait: readTime(oldest) })
    const page = rank([...volumes.values()], after).slice(0, most)
    const known = await describeOrgs(
      pool,
      page.map(({ org }) => org),
      since,
    )
    return {
      all: sumOf([...volumes.values()]),
      organisations: page.flatMap((volume) => {
        const described = known.find(({ org }) => org === volume.org)
        return described ? [{ ...described, ...volume }] : []
      }),
    }
  }
}

const nothing = { accepted: 0, refused: 0, waiting: 0, oldestWait: null }

export const volumeOf = ({ accepted, refused }: Pick<OrgVolume, 'accepted' | 'refused'>): number => accepted + refused

/** Those that sent the most first, and of those that sent as much by their ids; behind a place. */
export const rank = (all: readonly OrgVolume[], after?: AfterVolume): OrgVolume[] => {
  const isBehind = (one: OrgVolume): boolean =>
    !after || volumeOf(one) < after.volume || (volumeOf(one) === after.volume && one.org > after.org)
  return all.filter(isBehind).sort((a, b) => volumeOf(b) - volumeOf(a) || (a.org < b.org ? -1 : 1))
}

const sumOf = (all: readonly OrgVolume[]) => {
  const sum = (what: 'accepted' | 'refused' | 'waiting') => all.reduce((total, one) => total + one[what], 0)
  return { organisations: all.length, accepted: sum('accepted'), refused: sum('refused'), waiting: sum('waiting') }
}
