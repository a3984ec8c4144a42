import type { SubmittedBatch, SubmittedRecord } from '#schemas/events.js'

/** What must come of one batch. */
export type Judged = {
  type: string
  batch: SubmittedBatch
  accepted: SubmittedRecord[]
  refused: Map<number, string>
  repeated: number[]
}

/**
 * A naive system: it takes each partition of the submitted log in order, each batch once, and shares no code with the real one.
 * Partitions have no common order, so `take` is given two moments: when the decision read what is known, and when it was
 * committed. An entity is known to the decisions that read after its own decision was committed.
 */
export const createOracle = () => {
  const judged = new Map<string, Judged>()
  const knownSince = new Map<string, number>()
  const taken = new Map<string, Buffer>()
  const bodies = new Map<string, Buffer>()

  const verdictOn = (type: string, org: string, record: SubmittedRecord, lookedAt: number): string | undefined => {
    if (record.keyed_sha256) {
      const before = taken.get(`${org}/${record.interaction_id}`)
      if (before) return before.equals(record.keyed_sha256) ? 'repeated' : 'idempotency_conflict'
    }
    const refersTo = type === 'branches' ? record.shop_id : type === 'interactions' ? record.item_id : undefined
    const since = refersTo === undefined ? -1 : knownSince.get(`${org}/${refersTo}`)
    return since !== undefined && since < lookedAt ? undefined : 'unknown_reference'
  }

  return {
    judged,
    take: (type: string, batch: SubmittedBatch, lookedAt: number, committedAt: number): void => {
      if (judged.has(batch.batch_id)) return
      const one: Judged = { type, batch, accepted: [], refused: new Map(), repeated: [] }
      for (const { index, problems } of batch.refusals) one.refused.set(index, problems[0]?.code ?? '')
      const body = bodies.get(batch.request_id) ?? batch.body_sha256
      bodies.set(batch.request_id, body)
      for (const record of batch.records) {
        const verdict = body.equals(batch.body_sha256)
          ? verdictOn(type, batch.org_id, record, lookedAt)
          : 'idempotency_conflict'
        if (verdict === 'repeated') one.repeated.push(record.index)
        else if (verdict) one.refused.set(record.index, verdict)
        else {
          one.accepted.push(record)
          if (record.keyed_sha256) taken.set(`${batch.org_id}/${record.interaction_id}`, record.keyed_sha256)
        }
      }
      judged.set(batch.batch_id, one)
      if (type !== 'shops') return
      for (const { shop_id } of one.accepted) {
        const name = `${batch.org_id}/${shop_id}`
        if (!knownSince.has(name)) knownSince.set(name, committedAt)
      }
    },
  }
}

export type Oracle = ReturnType<typeof createOracle>
