import { reasonOf } from '#platform/health/health.js'
import type { Log } from '#platform/health/log.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import type { TopicPartition } from '#platform/kafka/partitions.js'
import { countPartitions } from '#platform/kafka/read-topics.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { type ConfigSchema, integer, type ValuesOf } from '#platform/process/config.js'
import type { Patience } from '#platform/process/patience.js'
import { type Layout, partitionsOf } from '#schemas/derive/topics.js'
import { findLayout } from './layout.js'

// Without defaults: a variable that is not set agrees with any system.
export const layoutVariables = {
  LANES: integer(
    { minimum: 1, maximum: 256 },
    'how many lanes an organisation has for each type; chosen at the first provisioning, changed by `weir lanes change`. As many integrity instances can decide its records at once. 1 where it is not set; see [How wide a system is](operations.md#how-wide-a-system-is)',
  ),
  SUBMITTED_PARTITIONS: integer(
    { minimum: 1, maximum: 1000 },
    'how many partitions each submitted topic has; chosen at the first provisioning, changed by `weir lanes change`. 4 where it is not set, 24 under compose',
  ),
  ACCEPTED_PARTITIONS: integer(
    { minimum: 1, maximum: 1000 },
    'how many partitions each accepted topic has; chosen at the first provisioning. `weir.rejected` and `weir.waiting` have as many, `weir.interactions` three times as many',
  ),
} as const satisfies ConfigSchema['properties']

export type LayoutVariables = ValuesOf<typeof layoutVariables>

/** Waits until the system is provisioned. Throws where the service was given another layout: waiting would not help. */
export const untilProvisioned = async (pool: Pool, patience: Patience, given: LayoutVariables): Promise<Layout> => {
  const layout = await patience.until('layout', () => readLayout(pool))
  refuseOtherLayout(layout, given)
  return layout
}

/**
 * For the start of a service: waits until these topics have the partitions that the system was provisioned with. `orMore` for one
 * that has to work off what is there also where partitions were added by hand; see watchPartitions.
 */
export const untilPartitioned = (
  kafka: Kafka,
  patience: Patience,
  layout: Layout,
  topics: readonly string[],
  { orMore = false } = {},
): Promise<void> =>
  patience.until('partitions', async () => {
    const found = await countPartitions(kafka, topics)
    const isAdded = (topic: string, count: number) => orMore && count > partitionsOf(layout, topic)
    refuseOtherPartitions(layout, new Map([...found].filter(([topic, count]) => !isAdded(topic, count))))
  })

const lookEvery = 30_000

/** While a service runs: looks now and then whether these topics still have the partitions that they were made with. */
export const watchPartitions = (
  { kafka, layout, topics, log }: { kafka: Kafka; layout: Layout; topics: readonly string[]; log: Log },
  every = lookEvery,
) => {
  let wrong: string | undefined
  const look = async (): Promise<void> => {
    const found = await countPartitions(kafka, topics)
    try {
      refuseOtherPartitions(layout, found)
      wrong = undefined
    } catch (error) {
      const reason = reasonOf(error)
      if (reason !== wrong) log.error({ reason }, 'a topic has other partitions than it was made with')
      wrong = reason
    }
  }
  // While Kafka is away, which other checks say, what was seen last stays.
  const lookPatiently = () =>
    void look().catch((error: unknown) => log.debug({ err: error }, 'partitions not looked at'))
  lookPatiently()
  const timer = setInterval(lookPatiently, every)
  return {
    /** Throws, saying why, where the last look found other counts. */
    check: (): void => {
      if (wrong) throw new Error(wrong)
    },
    stop: (): void => clearInterval(timer),
  }
}

/** Throws for a partition that was added by hand: messages in it did not come from an edge, and belong to no lane. */
export const refuseAddedPartition = (layout: Layout, { topic, partition }: TopicPartition): void => {
  if (partition >= partitionsOf(layout, topic))
    throw new Error(`this partition was added by hand, and no edge writes to it. ${wayOut}`)
}

const wayOut = 'The way out: "A partition was added by hand" in docs/runbook.md'

/** The stored layout; throws, saying what to do, where there is none. */
export const readLayout = async (pool: Pool): Promise<Layout> => {
  const layout = await findLayout(pool).catch((error: { code?: string }) => {
    if ([noSuchTable, noSuchSchema, noSuchColumn].includes(error.code ?? '')) return undefined
    throw error
  })
  if (!layout) throw new Error('this system is not provisioned yet: run "weir provision" of this version first')
  return layout
}

const noSuchTable = '42P01'
const noSuchSchema = '3F000'
const noSuchColumn = '42703'

/** Throws where the environment asks for another layout than the system has. */
export const refuseOtherLayout = (layout: Layout, given: LayoutVariables): void => {
  const has: Record<keyof LayoutVariables, number> = {
    LANES: layout.lanes,
    SUBMITTED_PARTITIONS: layout.submittedPartitions,
    ACCEPTED_PARTITIONS: layout.acceptedPartitions,
  }
  const names = Object.keys(has) as (keyof LayoutVariables)[]
  const wrong = names.filter((name) => given[name] !== undefined && given[name] !== has[name])
  if (wrong.length === 0) return
  const asked = wrong.map((name) => `${name}=${given[name]}`).join(' ')
  const right = wrong.map((name) => `${name}=${has[name]}`).join(' ')
  throw new Error(
    `${asked} was asked for, and this system has ${right}: set ${right}, or unset ${wrong.join(' and ')}. ` +
      'Lanes and submitted partitions of a running system are changed by "weir lanes change"',
  )
}

/** Throws where Kafka's topics have other counts than the layout says. */
export const refuseOtherPartitions = (layout: Layout, found: ReadonlyMap<string, number>): void => {
  const wrong = [...found].filter(([topic, count]) => count !== partitionsOf(layout, topic))
  if (wrong.length === 0) return
  const list = wrong.map(([topic, count]) => `${topic} has ${count} instead of ${partitionsOf(layout, topic)}`)
  const areAllAdded = wrong.every(([topic, count]) => count > partitionsOf(layout, topic))
  throw new Error(
    `the partition count of a topic cannot change, because versions are positions in it: ${list.join(', ')}. ` +
      'Is KAFKA_BROKERS the right Kafka? ' +
      (areAllAdded
        ? `If so, partitions were added by hand. ${wayOut}`
        : 'To begin anew, empty Kafka, Postgres and ClickHouse together'),
  )
}
