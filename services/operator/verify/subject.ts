import type { ClickHouse } from '#platform/clickhouse.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { RecordType } from '#schemas/record.js'
import type { Progress } from '../desk/progress.js'
import type { Differences } from './differences.js'
import type { Expectations } from './expectations.js'
import type { Figures } from './figures.js'
import type { Range } from './range.js'

/** One type under examination. */
export type TypeUnder = { type: RecordType; figures: Figures; expectations: Expectations }

/** What is verified, and with what. */
export type Subject = {
  kafka: Kafka
  registry: Registry
  pool: Pool
  clickhouse: ClickHouse
  catalogue: Catalogue
  types: ReadonlyMap<string, TypeUnder>
  /** Only this organisation's, where one is named. */
  org: string | undefined
  range: Range
  now: number
  differences: Differences
  progress: (label: string, total: number) => Progress
}

/** Clocks of edge, integrity and broker differ: events of the range are looked for from so much earlier on. */
const clockMargin = 10 * 60_000
export const readFrom = ({ range }: Subject): number => range.since - clockMargin
