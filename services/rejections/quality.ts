import { database, qualityView } from '#schemas/derive/names.js'
import { type Reader, readTime } from './find-rejections.js'

/** What came in on one day (UTC), of one type. */
export type QualityDay = {
  type: string
  /** YYYY-MM-DD */
  day: string
  received: number
  accepted: number
  refused: number
  /** Records that came on that day and still wait for what they refer to. */
  waiting: number
  /** Records whose waiting ended on that day without a decision: superseded or cancelled. */
  undecided: number
  topCodes: { code: string; count: number }[]
  lastAcceptedAt: Date | null
}

type QualityRow = {
  type: string
  on_day: string
  received: string
  accepted: string
  refused: string
  waiting: string
  undecided: string
  top_codes: { code: string; count: string }[]
  last_accepted_at: string | null
}

/** Both days are included; a day on which nothing of a type came in is left out. */
export const findQuality = async (
  clickhouse: Reader,
  org: string,
  { from, to }: { from: string; to: string },
): Promise<QualityDay[]> => {
  const rows = await clickhouse.query<QualityRow>(
    `select type, toString(day) as on_day, received, accepted, refused, waiting, undecided, top_codes,
      last_accepted_at
    from ${database}.${qualityView}
    where org_id = {org:String} and day >= {from:Date32} and day <= {to:Date32}
    order by day desc, type`,
    { org, from, to },
  )
  return rows.map((row) => ({
    type: row.type,
    day: row.on_day,
    received: Number(row.received),
    accepted: Number(row.accepted),
    refused: Number(row.refused),
    waiting: Number(row.waiting),
    undecided: Number(row.undecided),
    topCodes: row.top_codes.map(({ code, count }) => ({ code, count: Number(count) })),
    lastAcceptedAt: row.last_accepted_at === null ? null : readTime(row.last_accepted_at),
  }))
}
