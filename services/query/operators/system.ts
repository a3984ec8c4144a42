import { sizeOfDatabase } from '#ledger/organisations.js'
import { storageOf } from '#platform/clickhouse.js'
import { type Readiness, reasonOf, shareForASecond } from '#platform/health/health.js'
import { type GroupLag, lagOfGroups } from '#platform/kafka/committed-offsets.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { within } from '#platform/process/within.js'
import type { Reader } from '#rejections/find-rejections.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { database } from '#schemas/derive/names.js'
import { type Layout, topicsOf } from '#schemas/derive/topics.js'

type Storage = { part: string; used_bytes: number | null; free_bytes: number | null; problem: string | null }

export type SystemState = ReturnType<typeof createSystemState>

// A part that hangs must not keep the operator from seeing which one it is.
const answerWithin = 5_000

/** What an operator wants to know of the parts; asked at most once a second, however many look. */
export const createSystemState = (deps: {
  catalogue: Catalogue
  pool: Pool
  clickhouse: Reader
  kafka: Kafka
  /** How wide the system is; throws while that is not known yet. */
  layout: () => Layout
  readiness: { everything: () => Promise<Readiness> }
}) => {
  const lagNow = async () =>
    lagOfGroups(
      deps.kafka,
      topicsOf(deps.catalogue, deps.layout()).map(({ name }) => name),
    )
  return shareForASecond(async () => {
    const [{ parts }, postgres, clickhouse, groups] = await Promise.all([
      deps.readiness.everything(),
      sizesOf('postgres', async () => ({ used: await sizeOfDatabase(deps.pool), free: null, problem: noFree })),
      sizesOf('clickhouse', () => sizesInClickHouse(deps.clickhouse)),
      within(answerWithin, lagNow()).catch(() => null),
    ])
    return {
      parts: Object.entries(parts).map(([name, state]) => ({
        name,
        ok: state.ok,
        problem: state.ok ? null : state.problem,
      })),
      storage: [postgres, clickhouse, kafka],
      groups: groups?.map(withSum).sort((a, b) => b.lag - a.lag || (a.group < b.group ? -1 : 1)) ?? null,
    }
  })
}

const withSum = (group: GroupLag) => ({ ...group, lag: group.topics.reduce((sum, { lag }) => sum + lag, 0) })

const noFree = 'Postgres does not tell how much is free on its disk'
// kafkajs cannot ask for log directories (DescribeLogDirs).
const kafka: Storage = {
  part: 'kafka',
  used_bytes: null,
  free_bytes: null,
  problem: 'ask Kafka itself: kafka-log-dirs.sh --describe',
}

type Sizes = { used: number | null; free: number | null; problem?: string }

const sizesOf = async (part: string, ask: () => Promise<Sizes>): Promise<Storage> => {
  try {
    const { used, free, problem = null } = await within(answerWithin, ask())
    return { part, used_bytes: used, free_bytes: free, problem }
  } catch (error) {
    return { part, used_bytes: null, free_bytes: null, problem: reasonOf(error) }
  }
}

const sizesInClickHouse = async (clickhouse: Reader): Promise<Sizes> => {
  const { used = null, free = null } = (await storageOf(clickhouse, database)) ?? {}
  return { used, free }
}
