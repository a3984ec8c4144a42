import type { Submitted } from '#ledger/fence.js'
import type { Log } from '#platform/health/log.js'
import type { Fetch } from '#platform/kafka/kafka.js'
import type { SetAside, Unreadable } from '#platform/kafka/set-aside.js'
import { inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { createBreathe } from '#platform/process/breathe.js'
import type { FailAt } from '#platform/process/fail-point.js'
import { Undecodable } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { submittedTopic } from '#schemas/derive/names.js'
import type { SubmittedBatch } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import type { EntityIndex } from './entity-index.js'
import type { IntegrityFigures } from './figures.js'
import type { PublishDecisions } from './publisher.js'
import { takeDecisions } from './take-decisions.js'

/** What it takes to decide on the batches of one type: how they are read, and how the outcome is published. */
export type TypeTools = {
  type: RecordType
  decode: (message: Buffer) => Promise<SubmittedBatch>
  publish: PublishDecisions
}

/**
 * One fetch of one partition: read, decided in one transaction, then published. Its offsets are committed when this
 * resolves.
 */
export const createFetchHandler = (deps: {
  catalogue: Catalogue
  tools: readonly TypeTools[]
  pool: Pool
  index: EntityIndex
  setAside: SetAside
  figures: IntegrityFigures
  failAt: FailAt
  log: Log
  now?: () => number
}): ((fetch: Fetch) => Promise<void>) => {
  const toolsOf = new Map(deps.tools.map((tools) => [submittedTopic(tools.type.type), tools]))
  const now = deps.now ?? Date.now

  return async (fetch) => {
    const tools = toolsOf.get(fetch.topic)
    if (!tools) throw new Error(`nobody decides on ${fetch.topic}`)
    const { type, decode, publish } = tools
    const { topic, partition } = fetch
    deps.figures.fetched(fetch)

    const { submitted, unreadable } = await read(decode, fetch)
    const at = {
      topic,
      partition,
      type,
      isReferenced: deps.catalogue.referenced.has(type.type),
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
    await publish(outcomes, fetch.holdsPartition)
    deps.failAt('after-publish')
    deps.figures.published(fetch, outcomes)
  }
}

const read = async (
  decode: TypeTools['decode'],
  { topic, partition, messages }: Fetch,
): Promise<{ submitted: Submitted[]; unreadable: Unreadable[] }> => {
  const submitted: Submitted[] = []
  const unreadable: Unreadable[] = []
  const breathe = createBreathe()
  for (const { offset, timestamp, value } of messages) {
    await breathe()
    try {
      submitted.push({ offset, timestamp, batch: await decode(value) })
    } catch (error) {
      if (!(error instanceof Undecodable)) throw error
      unreadable.push({ topic, partition, offset, timestamp, value, reason: error.message })
    }
  }
  return { submitted, unreadable }
}
