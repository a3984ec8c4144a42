import type { ClickHouse } from '#platform/clickhouse.js'
import { countNamedSql, dueSegmentsSql, findMembersSql, type OwnSegment } from '#schemas/derive/clickhouse/segments.js'
import { readCondition } from '#schemas/marts/segments/condition.js'

export type SegmentKeeper = ReturnType<typeof createSegmentKeeper>

/** Finds once a day who is in the own segments of organisations, and how many customers are in each segment. */
export const createSegmentKeeper = (clickhouse: ClickHouse) => ({
  /** Own segments whose members are not known as of today. */
  due: (): Promise<OwnSegment[]> => clickhouse.query<OwnSegment>(dueSegmentsSql),
  findMembers: async (own: OwnSegment): Promise<void> => {
    // It was checked when it was made; what may stand in one may have changed since.
    const read = readCondition(own.condition)
    if ('problem' in read)
      throw new Error(
        `the condition of the segment ${own.segment} of ${own.org} cannot be used any more: ${read.problem}`,
      )
    const [clock] = await clickhouse.query<{ at: string }>("select toString(now64(3, 'UTC')) as at")
    for (const statement of findMembersSql({ ...own, ...read }, clock?.at ?? '')) await clickhouse.command(statement)
  },
  countNamed: (): Promise<void> => clickhouse.command(countNamedSql),
})
