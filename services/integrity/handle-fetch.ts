import type { Gates } from '#ledger/erasures/gates.js'
import { explainHole, Hole, type Submitted } from '#ledger/fence.js'
import type { Log } from '#platform/health/log.js'
import type { Fetch, Received } from '#platform/kafka/kafka.js'
import { placeOf } from '#platform/kafka/partitions.js'
import type { SetAside, Unreadable } from '#platform/kafka/set-aside.js'
import { type Connection, inTransaction, type Pool } from '#platform/postgres/postgres.js'
import type { FailAt } from '#platform/process/fail-point.js'
import { createPauses } from '#platform/process/pauses.js'
import { NewerSchema, Undecodable } from '#platform/registry.js'
import { noTracing, type Tracing, traceMessages } from '#platform/tracing/tracing.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { isClosingMark } from '#schemas/closing-mark.js'
import { typeOfSubmitted } from '#schemas/derive/names.js'
import type { RecordType } from '#schemas/record.js'
import type { EntityIndex } from './entity-index.js'
import type { IntegrityFigures } from './figures.js'
import type { PublishDecisions } from './publisher.js'
import type { ReadBatch, Scanned } from './read-batch.js'
import { takeDecisions } from './take-decisions.js'
import type { ResumeBytes } from './waiting/resume.js'
import type { RoomToWait } from './waiting/room.js'

/** What it takes to decide on the batches of one type: how they are read, and how the outcome is published. */
export type TypeTools = {
  type: RecordType
  read: ReadBatch
  publish: PublishDecisions
  /** The records of a batch as they are kept while they wait. */
  keep: ResumeBytes['keep']
}

/** One fetch of one partition: read, decided in one transaction, published. At a message of a newer schema it stops. */
export const createFetchHandler = (deps: {
  catalogue: Catalogue
  tools: readonly TypeTools[]
  pool: Pool
  /** How many lanes an organisation has in a topic. */
  lanesOf: (topic: string) => number
  /** The first offset that Kafka still has of a partition. */
  logStart: (topic: string, partition: number) => Promise<number>
  index: EntityIndex
  gates: Gates
  setAside: SetAside
  room: RoomToWait
  /** Called when something has come that others wait for. */
  onArrived: () => void
  /** Throws where it is not sure that Postgres still knows what it knew. */
  refuseUnsure: () => void
  figures: Omit<IntegrityFigures, 'assigned' | 'waiting' | 'postgresBehind'>
  tracing?: Tracing
  failAt: FailAt
  log: Log
}): ((fetch: Fetch) => Promise<void>) => {
  const toolsOf = new Map(deps.tools.map((tools) => [tools.type.type, tools]))
  // Partitions that stand still before a message of a newer schema, and its offset. Each new try brings the same fetch.
  const stoppedAt = new Map<string, number>()

  const handle = async (fetch: Fetch): Promise<void> => {
    const tools = toolsOf.get(typeOfSubmitted(fetch.topic))
    if (!tools) throw new Error(`there is nothing that decides on ${fetch.topic}`)
    const { type, publish } = tools
    const { topic, partition } = fetch
    deps.figures.fetched(fetch)

    const { submitted, unreadable, next, newer } = await readFetch(tools.read, fetch)
    const first = fetch.messages[0]?.offset ?? 0
    const place = placeOf(fetch)
    // What lies before that message was decided and published when this process met it for the first time.
    if (newer && (next === first || stoppedAt.get(place) === next)) throw newer
    const at = {
      topic,
      partition,
      type,
      isReferenced: deps.catalogue.referenced.has(type.type),
      lanes: deps.lanesOf(topic),
      first,
      next,
      before: fetch.before && (await readBefore(tools.read, fetch.before)),
    }
    const waitTools = {
      room: deps.room,
      keep: ({ batch }: Scanned) => tools.keep(batch),
    }
    const decide = async (connection: Connection, begun: Promise<unknown>) => {
      deps.refuseUnsure()
      const taken = await takeDecisions(connection, deps.index, at, submitted, undefined, waitTools, begun, deps.gates)
      deps.failAt('before-postgres-commit')
      return taken
    }
    const { outcomes, entities, forgotten, waits, arrived } = await inTransaction(deps.pool, decide, {
      readsAhead: true,
    }).catch(async (error: unknown) => {
      throw error instanceof Hole ? explainHole(error, await deps.logStart(topic, partition)) : error
    })
    deps.failAt('after-postgres-commit')
    deps.index.remember(entities)
    for (const begun of waits.begun) deps.room.taken(begun)
    deps.figures.waited(waits)
    if (arrived > 0 || waits.begun.length > 0) {
      deps.failAt('after-waiting-marked')
      if (arrived > 0) deps.onArrived()
    }
    if (forgotten.length > 0) {
      deps.figures.forgotten(topic, forgotten.length)
      const [first] = forgotten
      deps.log.warn(
        { topic, partition, from: first?.offset, batches: forgotten.length },
        'decided long ago or accepted as lost, passed over',
      )
    }
    for (const message of unreadable) await deps.setAside(message)
    await publish(outcomes, fetch.holdsPartition)
    deps.failAt('after-publish')
    deps.figures.published({ ...fetch, messages: fetch.messages.filter(({ offset }) => offset < next) }, outcomes)
    if (!newer) return
    stoppedAt.set(place, next)
    throw newer
  }

  return async (fetch) => {
    const end = traceMessages(deps.tracing ?? noTracing, `decide ${fetch.topic}`, fetch.messages)
    await handle(fetch).then(
      () => end(),
      (error: unknown) => {
        end(error)
        throw error
      },
    )
  }
}

/** Undefined for a message that cannot be compared: it is unreadable, or only a newer version of integrity can. */
const readBefore = async (read: ReadBatch, { offset, timestamp, value }: Received): Promise<Submitted | undefined> => {
  try {
    return { offset, timestamp, batch: await read(value) }
  } catch (error) {
    if (error instanceof Undecodable || error instanceof NewerSchema) return undefined
    throw error
  }
}

/** What a fetch holds, up to the offset `next`: its end, or the first message of a newer schema. */
type ReadFetch = { submitted: Scanned[]; unreadable: Unreadable[]; next: number; newer?: Error }

const readFetch = async (read: ReadBatch, { topic, partition, messages }: Fetch): Promise<ReadFetch> => {
  const submitted: Scanned[] = []
  const unreadable: Unreadable[] = []
  const pause = createPauses()
  for (const { offset, timestamp, value, traceparent } of messages) {
    await pause()
    // Without a value: what was here is gone, or this takes something away.
    if (value === null || isClosingMark(value)) continue
    try {
      const batch = await read(value)
      submitted.push(traceparent ? { offset, timestamp, batch, traceparent } : { offset, timestamp, batch })
    } catch (error) {
      // Decided without the values that this version does not know, they would be lost though a 200 confirmed them.
      if (error instanceof NewerSchema) {
        const newer = new Error(`offset ${offset} was ${error.message}: upgrade integrity`)
        return { submitted, unreadable, next: offset, newer }
      }
      if (!(error instanceof Undecodable)) throw error
      unreadable.push({ topic, partition, offset, timestamp, value, reason: error.message })
    }
  }
  return { submitted, unreadable, next: (messages.at(-1)?.offset ?? -1) + 1 }
}
