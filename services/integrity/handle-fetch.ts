import type { Submitted } from '#ledger/fence.js'
import type { Log } from '#platform/health/log.js'
import type { Fetch } from '#platform/kafka/kafka.js'
import type { SetAside, Unreadable } from '#platform/kafka/set-aside.js'
import { inTransaction, type Pool } from '#platform/postgres/postgres.js'
import type { FailAt } from '#platform/process/fail-point.js'
import { Undecodable } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { submittedTopic } from '#schemas/derive/names.js'
import type { SubmittedBatch } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import type { EntityIndex } from './entity-index.js'
import type { Figures } from './figures.js'
import type { Publish } from './publisher.js'
import { takeDecisions } from './take-decisions.js'

export type Lane = { type: RecordType; decode: (message: Buffer) => Promise<SubmittedBatch>; publish: Publish }

/** One fetch of one partition: decided in one transaction, then told. */
export const createFetchHandler = (deps: {
  catalogue: Catalogue
  pool: Pool
  index: EntityIndex
  lanes: readonly Lane[]
  figures: Figures
  setAside: SetAside
  failAt: FailAt
  log: Log
  now?: () => number
}): ((fetch: Fetch) => Promise<void>) => {
  const lanes = new Map(deps.lanes.map((lane) => [submittedTopic(lane.type.type), lane]))
  const now = deps.now ?? Date.now

  return async (fetch) => {
    const lane = lanes.get(fetch.topic)
    if (!lane) throw new Error(`nobody decides on ${fetch.topic}`)
    const { topic, partition } = fetch
    deps.figures.fetched(fetch)

    const { submitted, unreadable } = await read(lane, fetch)
    const at = {
      topic,
      partition,
      type: lane.type,
      isReferenced: deps.catalogue.referenced.has(lane.type.type),
      first: fetch.messages[0]?.offset ?? 0,
      next: (fetch.messages.at(-1)?.offset ?? -1) + 1,
    }
    const { outcomes, entities, forgotten } = await inTransaction(deps.pool, async (connection) => {
      const taken = await takeDecisions(connection, deps.index, at, submitted, now())
      deps.failAt('before-postgres-commit')
      return taken
    })
    deps.failAt('after-postgres-commit')
    deps.index.remember(entities)
    if (forgotten.length > 0) {
      deps.figures.forgotten(topic, forgotten.length)
      const [first] = forgotten
      deps.log.warn(
        { topic, partition, from: first?.offset, batches: forgotten.length },
        'decided long ago, passed over',
      )
    }
    for (const message of unreadable) await deps.setAside(message)
    await lane.publish(outcomes, fetch.holdsPartition)
    deps.failAt('after-publish')
    deps.figures.told(fetch, outcomes)
  }
}

const read = async (
  lane: Lane,
  { topic, partition, messages }: Fetch,
): Promise<{ submitted: Submitted[]; unreadable: Unreadable[] }> => {
  const submitted: Submitted[] = []
  const unreadable: Unreadable[] = []
  for (const { offset, timestamp, value } of messages) {
    try {
      submitted.push({ offset, timestamp, batch: await lane.decode(value) })
    } catch (error) {
      if (!(error instanceof Undecodable)) throw error
      unreadable.push({ topic, partition, offset, timestamp, value, reason: error.message })
    }
  }
  return { submitted, unreadable }
}
