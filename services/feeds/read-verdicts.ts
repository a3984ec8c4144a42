import { findAcceptedFrom } from '#ledger/latest/accepted.js'
import type { Generation } from '#ledger/layout/layout.js'
import type { StoredVerdict } from '#ledger/verdicts.js'
import type { LogReader } from '#platform/kafka/kafka.js'
import { placeOf } from '#platform/kafka/partitions.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Registry } from '#platform/registry.js'
import { submittedSchema } from '#schemas/derive/avro.js'
import { createEventsOf } from '#schemas/derive/decided-events.js'
import type { RejectedEvent, SubmittedBatch } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { versionOf } from '#schemas/version.js'
import type { LogPosition } from './cursor.js'
import { placesIn } from './read-log.js'

// What was decided for an organisation, verdict by verdict, from a place in the log on: also where nothing was accepted.

export type VerdictRead = { type: RecordType; verdict: StoredVerdict }

/** What comes next; `isPassedOver` where verdicts between were pruned; `isEnd` where there is no more at this moment. */
export type VerdictsRead = {
  batches: VerdictRead[]
  positions: Map<RecordType, LogPosition>
  isPassedOver: boolean
  isEnd: boolean
}

const mostVerdicts = 100

export const createReadVerdicts =
  (deps: { pool: Pool; findGenerations: () => Promise<readonly Generation[]> }) =>
  /** At most a hundred of each partition. */
  async (orgId: string, from: ReadonlyMap<RecordType, LogPosition>): Promise<VerdictsRead> => {
    // Before the verdicts: where a generation is finished, all of its verdicts are found.
    const generations = await deps.findGenerations()
    const places = [...from].flatMap(([type, position]) => placesIn(orgId, type, position, generations))
    const found = await findAcceptedFrom(deps.pool, orgId, places, mostVerdicts, { orNot: true })
    const decidedIn = new Map(found.map((each) => [placeOf(each), each]))
    const batches: VerdictRead[] = []
    const positions = new Map<RecordType, LogPosition>()
    let isEnd = true
    let isPassedOver = false
    for (const [type, { generation }] of from) {
      const next: Record<number, number> = {}
      let isOver = true
      for (const place of places.filter((each) => each.type === type)) {
        const decided = decidedIn.get(placeOf(place))
        next[place.partition] = place.next
        if (!decided) continue
        if (place.offset < decided.prunedUntil) isPassedOver = true
        for (const verdict of decided.verdicts) batches.push({ type, verdict })
        const last = decided.verdicts.length === mostVerdicts ? decided.verdicts.at(-1) : undefined
        if (last) isOver = false
        const readTo = last ? last.submitted_offset + 1 : decided.decidedUntil
        next[place.partition] = Math.max(place.next, versionOf(readTo, 0))
      }
      const goesOn = isOver && generations.find((each) => each.generation === generation)?.state === 'finished'
      positions.set(type, goesOn ? { generation: generation + 1, next: {} } : { generation, next })
      if (goesOn || !isOver) isEnd = false
    }
    batches.sort((a, b) => a.verdict.decided_at - b.verdict.decided_at)
    return { batches, positions, isPassedOver, isEnd }
  }

export type ReadVerdicts = ReturnType<typeof createReadVerdicts>

/** The refused records of a batch, as they are published; where they waited before, with the request that they came in. */
export type ReadRefused = (batch: VerdictRead) => Promise<RejectedEvent[]>

export const createReadRefused = (deps: {
  log: Pick<LogReader, 'messagesAt'>
  decoders: Pick<Registry, 'decoder'>
}): ReadRefused => {
  const toolsOf = new Map<string, ReturnType<typeof createTools>>()
  const createTools = (type: RecordType) => ({
    decode: deps.decoders.decoder<SubmittedBatch>(submittedSchema(type)),
    rejected: createEventsOf(type).rejected,
  })
  return async ({ type, verdict }) => {
    const tools = toolsOf.get(type.type) ?? createTools(type)
    toolsOf.set(type.type, tools)
    const messages = await deps.log.messagesAt(verdict, [verdict.submitted_offset])
    const message = messages.get(verdict.submitted_offset)
    const submitted = message && (await tools.decode(message.value))
    // The log may have been cut since, and have grown again.
    return submitted?.batch_id === verdict.batch_id ? tools.rejected(submitted, verdict) : []
  }
}
