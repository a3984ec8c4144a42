import type { FastifyInstance } from 'fastify'
import { addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import type { Reader } from '#rejections/find-rejections.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { database, logTableOf, rejectionsLog, waitingLog } from '#schemas/derive/names.js'
import { type activitySpans, readActivity } from '#schemas/endpoints/overview.js'
import { mostRecordsInBatch } from '#schemas/version.js'
import type { Reads } from '../reads.js'
import type { BucketCounts } from './activity.js'

type Span = (typeof activitySpans)[number]

/** What was decided of a type in the stretch of time that began `at`. */
export type CountedStretch = { at: Date; type: string; accepted: number; refused: number; waiting: number }

/** Counts by stretches of `seconds`, from `from` until before `until`; empty stretches are left out. */
export type CountStretches = (
  orgId: string,
  stretch: { from: Date; until: Date; seconds: number },
) => Promise<CountedStretch[]>

export type HistoryDeps = {
  catalogue: Catalogue
  /** From the verdicts: up to the second, and not for long. */
  countVerdicts: CountStretches
  /** From the tables: for as long as these are kept, some seconds behind. */
  countRows: CountStretches
  consoleReads: Reads
  now: () => number
}

// About as many stretches as a chart can show.
const spans: Record<Span, { seconds: number; stretches: number; isLong: boolean }> = {
  '1h': { seconds: 20, stretches: 180, isLong: false },
  '6h': { seconds: 120, stretches: 180, isLong: false },
  '24h': { seconds: 600, stretches: 144, isLong: false },
  // A week of verdicts can be millions, which Postgres reads one by one.
  '7d': { seconds: 3_600, stretches: 168, isLong: true },
  '30d': { seconds: 14_400, stretches: 180, isLong: true },
  '90d': { seconds: 43_200, stretches: 180, isLong: true },
}

/** GET /v1/activity: what was decided in the last hour, day or months. */
export const addHistory = (app: FastifyInstance, deps: HistoryDeps): void => {
  const { catalogue } = deps
  const read = on(readActivity, async ({ query: { span } }, request) => {
    const { orgId } = callerOf(request)
    const { seconds, stretches, isLong } = spans[span]
    const step = seconds * 1000
    const until = (Math.floor(deps.now() / step) + 1) * step
    const from = until - stretches * step
    const count = isLong ? deps.countRows : deps.countVerdicts
    const asked = { from: new Date(from), until: new Date(until), seconds }
    const counted = await deps.consoleReads(orgId, () => count(orgId, asked))
    if ('error' in counted) return counted
    const sums = Array.from({ length: stretches }, (): BucketCounts => ({ ...nothing }))
    for (const { at, type, accepted, refused, waiting } of counted) {
      const sum = sums[(at.getTime() - from) / step]
      if (!sum) continue
      sum[type === catalogue.interaction.type ? 'interactions' : 'accepted'] += accepted
      sum.refused += refused
      sum.waiting += waiting
    }
    const column = (name: keyof BucketCounts): number[] => sums.map((one) => one[name])
    return {
      bucket_seconds: seconds,
      from: asked.from,
      accepted: column('accepted'),
      refused: column('refused'),
      waiting: column('waiting'),
      interactions: column('interactions'),
    }
  })
  addEndpoints(app, catalogue, [read])
}

const nothing: BucketCounts = { accepted: 0, refused: 0, waiting: 0, interactions: 0 }

/** From ClickHouse. Rows that were written twice count once, as in weir.quality. */
export const createCountRows = ({
  catalogue,
  clickhouse,
}: {
  catalogue: Catalogue
  clickhouse: Reader
}): CountStretches => {
  const stretch = (time: string) => `intDiv(toUnixTimestamp(${time}), {seconds:UInt32}) * {seconds:UInt32}`
  const within = (time: string) =>
    `org_id = {org:String} and ${time} >= fromUnixTimestamp64Milli({from:Int64}) and ${time} < fromUnixTimestamp64Milli({until:Int64})`
  const accepted = [...catalogue.all.keys()].map(
    (type) => `select at, '${type}' as type, sum(n) as accepted, 0 as refused, 0 as waiting
    from (
      select ${stretch('accepted_at')} as at, groupBitmap(toUInt16(version % ${mostRecordsInBatch})) as n
      from ${database}.${logTableOf(type)}
      where ${within('accepted_at')}
      group by at, batch_id, intDiv(version, ${mostRecordsInBatch})
    )
    group by at`,
  )
  const refused = `select ${stretch('rejected_at')} as at, type, 0 as accepted, count() as refused, 0 as waiting
    from ${database}.${rejectionsLog} final where ${within('rejected_at')} group by at, type`
  const waiting = `select ${stretch('since')} as at, type, 0 as accepted, 0 as refused, count() as waiting
    from ${database}.${waitingLog} final where ${within('since')} group by at, type`
  const sql = `select toUInt32(at) as at, type, toFloat64(sum(accepted)) as accepted, toFloat64(sum(refused)) as refused,
      toFloat64(sum(waiting)) as waiting
    from (${[...accepted, refused, waiting].join('\nunion all\n')})
    group by at, type`
  return async (org, { from, until, seconds }) => {
    const rows = await clickhouse.query<Omit<CountedStretch, 'at'> & { at: number }>(sql, {
      org,
      seconds,
      from: from.getTime(),
      until: until.getTime(),
    })
    return rows.map((row) => ({ ...row, at: new Date(row.at * 1000) }))
  }
}
