import { database, qualityView } from '#schemas/derive/names.js'
import type { AnswerOf } from '#schemas/endpoints/endpoint.js'
import type { readQuality } from '#schemas/endpoints/rejections.js'
import { type Reader, readTime } from './find-rejections.js'

/** What came in on one day (UTC), of one type. */
export type QualityDay = AnswerOf<typeof readQuality>['days'][number]

/** Both days are included; a day on which nothing of a type came in is left out. */
export const findQuality = async (
  clickhouse: Reader,
  org: string,
  { from, to }: { from: string; to: string },
): Promise<QualityDay[]> => {
  const counts = ['received', 'accepted', 'refused', 'waiting', 'undecided']
  const rows = await clickhouse.query<Omit<QualityDay, 'last_accepted_at'> & { last_accepted_at: string | null }>(
    `select type, toString(days.day) as day, ${counts.map((name) => `toFloat64(days.${name}) as ${name}`).join(', ')},
      cast(days.top_codes, 'Array(Tuple(code String, count Float64))') as top_codes, last_accepted_at
    from ${database}.${qualityView} as days
    where org_id = {org:String} and days.day >= {from:Date32} and days.day <= {to:Date32}
    order by days.day desc, type`,
    { org, from, to },
  )
  return rows.map((row) => ({ ...row, last_accepted_at: row.last_accepted_at && readTime(row.last_accepted_at) }))
}
