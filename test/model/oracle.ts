import type { SubmittedBatch, SubmittedRecord, WaitState } from '#schemas/events.js'
import { namesOf } from './edge.js'

/** What must come of one batch. */
export type Judged = {
  type: string
  batch: SubmittedBatch
  accepted: SubmittedRecord[]
  refused: Map<number, string>
  repeated: number[]
  waiting: number[]
  gone: number[]
  /** What became later of those that waited. */
  released: SubmittedRecord[]
  expired: Map<number, string>
}

/** A record that waits or waited, by the place where it was first submitted. */
export type JudgedWait = { batchId: string; place: number; until: number; record: SubmittedRecord; state: WaitState }

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
  const waits: JudgedWait[] = []
  const gone = new Set<string>()

  const nameOf = (type: string, org: string, record: SubmittedRecord): string => `${org}/${type}/${idOf(record)}`
  /** From when until when an organisation has a person refused. */
  const gates: { org: string; name: string; from: number; until: number }[] = []
  const isErased = (org: string, record: Readonly<Record<string, unknown>>, lookedAt: number): boolean =>
    namesOf(record).some((name) =>
      gates.some((gate) => gate.org === org && gate.name === name && gate.from < lookedAt && lookedAt < gate.until),
    )
  const waitsNow = new Map<string, JudgedWait>()

  const end = (name: string, state: WaitState): void => {
    const wait = waitsNow.get(name)
    if (wait) wait.state = state
    waitsNow.delete(name)
  }

  const isUnknown = (type: string, org: string, record: SubmittedRecord, lookedAt: number): boolean => {
    const refersTo = type === 'shops' || type === 'customers' ? undefined : (record.item_id ?? record.shop_id)
    const since = refersTo === undefined ? -1 : knownSince.get(`${org}/${refersTo}`)
    return since === undefined || since >= lookedAt
  }

  const verdictOn = (type: string, batch: SubmittedBatch, record: SubmittedRecord, lookedAt: number): string => {
    const org = batch.org_id
    if (isErased(org, record, lookedAt)) return 'person_erased'
    if (record.keyed_sha256) {
      const before = taken.get(`${org}/${record.interaction_id}`)
      if (before) return before.equals(record.keyed_sha256) ? 'repeated' : 'idempotency_conflict'
      const waiting = waitsNow.get(nameOf(type, org, record))?.record.keyed_sha256
      if (waiting) return waiting.equals(record.keyed_sha256) ? 'waits already' : 'idempotency_conflict'
    }
    if (!isUnknown(type, org, record, lookedAt)) return 'accepted'
    return (batch.wait_until ?? 0) > lookedAt ? 'waiting' : 'unknown_reference'
  }

  /** A record that waited comes to its lane again. */
  const takeAnew = (one: Judged, record: SubmittedRecord, lookedAt: number): void => {
    const { type, batch } = one
    const from = batch.resumed?.[0]
    const name = nameOf(type, batch.org_id, record)
    const wait = waitsNow.get(name)
    const first = judged.get(from?.batch_id ?? '')
    if (!wait || !first || wait.batchId !== from?.batch_id || wait.place !== from.place) {
      one.gone.push(record.index)
    } else if (isErased(batch.org_id, record, lookedAt)) {
      one.refused.set(record.index, 'person_erased')
      first.expired.set(wait.place, 'person_erased')
      end(name, 'refused')
    } else if (!isUnknown(type, batch.org_id, record, lookedAt)) {
      one.accepted.push(record)
      first.released.push(record)
      if (record.keyed_sha256) taken.set(`${batch.org_id}/${record.interaction_id}`, record.keyed_sha256)
      end(name, 'accepted')
    } else if (wait.until > lookedAt && wait.until > batch.submitted_at) {
      one.waiting.push(record.index)
    } else {
      one.refused.set(record.index, 'unknown_reference')
      first.expired.set(wait.place, 'unknown_reference')
      end(name, 'refused')
    }
  }

  return {
    judged,
    waits,
    /** What is gone with a person: places of records, by batch. */
    isGone: (batchId: string, place: number): boolean => gone.has(`${batchId} ${place}`),
    closeGate: (org: string, name: string, from: number): void => {
      gates.push({ org, name, from, until: Number.POSITIVE_INFINITY })
    },
    openGate: (org: string, name: string, until: number): void => {
      for (const gate of gates) if (gate.org === org && gate.name === name && gate.until > until) gate.until = until
    },
    /** Nothing that names this person is left of what was decided until now. */
    erased: (org: string, name: string): void => {
      for (const { batch } of judged.values()) {
        if (batch.org_id !== org) continue
        for (const record of batch.records)
          if (namesOf(record).includes(name)) gone.add(`${batch.batch_id} ${record.index}`)
        for (const { record, index } of batch.refusals)
          if (namesOf(JSON.parse(record)).includes(name)) gone.add(`${batch.batch_id} ${index}`)
      }
    },
    /** A record goes as a whole whose newest version names who is erased; returns whether it does. */
    goes: (type: string, org: string, id: string, isMeant: (name: string) => boolean): boolean => {
      const versions = [...judged.values()]
        .filter(({ batch, type: of }) => of === type && batch.org_id === org)
        .sort((a, b) => a.batch.submitted_at - b.batch.submitted_at)
        .flatMap(({ batch, accepted }) =>
          accepted.filter((record) => idOf(record) === id).map((record) => ({ batchId: batch.batch_id, record })),
        )
      const newest = versions.findLast(({ batchId, record }) => !gone.has(`${batchId} ${record.index}`))
      if (newest && !namesOf(newest.record).some(isMeant)) return false
      for (const { batchId, record } of versions) gone.add(`${batchId} ${record.index}`)
      return true
    },
    cancel: (batchId: string, place: number): void => {
      for (const [name, wait] of waitsNow) if (wait.batchId === batchId && wait.place === place) end(name, 'cancelled')
    },
    take: (type: string, batch: SubmittedBatch, lookedAt: number, committedAt: number): void => {
      if (judged.has(batch.batch_id)) return
      const one: Judged = {
        type,
        batch,
        accepted: [],
        refused: new Map(),
        repeated: [],
        waiting: [],
        gone: [],
        released: [],
        expired: new Map(),
      }
      const body = bodies.get(batch.request_id) ?? batch.body_sha256
      bodies.set(batch.request_id, body)
      const isOwnBody = body.equals(batch.body_sha256)
      const all = [
        ...batch.records.map((record) => ({ index: record.index, record })),
        ...batch.refusals.map((refusal) => ({ index: refusal.index, refusal })),
      ].sort((a, b) => a.index - b.index)
      for (const each of all) {
        if ('refusal' in each) {
          const isOfErased = isErased(batch.org_id, JSON.parse(each.refusal.record), lookedAt)
          one.refused.set(each.index, isOfErased ? 'person_erased' : (each.refusal.problems[0]?.code ?? ''))
          if (isOwnBody && each.refusal.id !== null) end(`${batch.org_id}/${type}/${each.refusal.id}`, 'superseded')
          continue
        }
        const { index, record } = each
        if (batch.resumed?.length) {
          takeAnew(one, record, lookedAt)
          continue
        }
        const verdict = isOwnBody ? verdictOn(type, batch, record, lookedAt) : 'idempotency_conflict'
        const name = nameOf(type, batch.org_id, record)
        if (type !== 'interactions' && isOwnBody) end(name, 'superseded')
        if (verdict === 'repeated') one.repeated.push(index)
        else if (verdict === 'waits already') one.waiting.push(index)
        else if (verdict === 'waiting') {
          one.waiting.push(index)
          const until = batch.wait_until ?? 0
          const wait: JudgedWait = { batchId: batch.batch_id, place: index, until, record, state: 'waiting' }
          waits.push(wait)
          waitsNow.set(name, wait)
        } else if (verdict === 'accepted') {
          one.accepted.push(record)
          if (record.keyed_sha256) taken.set(`${batch.org_id}/${record.interaction_id}`, record.keyed_sha256)
        } else one.refused.set(index, verdict)
      }
      judged.set(batch.batch_id, one)
      if (type !== 'shops' && type !== 'offers') return
      for (const { shop_id, offer_id } of one.accepted) {
        const name = `${batch.org_id}/${offer_id ?? shop_id}`
        if (!knownSince.has(name)) knownSince.set(name, committedAt)
      }
    },
  }
}

const idOf = (record: Readonly<Record<string, unknown>>): string =>
  String(
    record.interaction_id ??
      record.branch_id ??
      record.offer_id ??
      record.transaction_id ??
      record.customer_id ??
      record.shop_id,
  )

export type Oracle = ReturnType<typeof createOracle>
