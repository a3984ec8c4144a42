import type { Span, Submitted } from '#ledger/fence.js'
import type { BegunWait, WaitChanges } from '#ledger/waiting/waits.js'
import { type Decision, resumedOf, type StillWaiting } from '#schemas/decide.js'
import { originsOf } from '#schemas/derive/decided-events.js'
import { entityKey } from '#schemas/derive/names.js'
import type { SubmittedBatch } from '#schemas/events.js'
import { hasVersions } from '#schemas/record.js'
import { versionOf } from '#schemas/version.js'

/** The records that wait while a fetch is decided, batch after batch, and what the decisions change among them. */
export type WaitsOfFetch = {
  /** The record of this id that waits now. */
  of: (orgId: string, id: string) => StillWaiting | undefined
  /** Notes what the decision on a batch changes. */
  note: (one: Submitted, decision: Decision) => void
  /** How many records of an organisation have begun to wait in this fetch. */
  begunBy: (orgId: string) => number
  changes: WaitChanges
}

/** `waiting` are the records that wait in the fetch's lane, as far as the fetch is about their ids, by organisation and id. */
export const createWaitsOfFetch = (at: Span, waiting: ReadonlyMap<string, StillWaiting>): WaitsOfFetch => {
  const current = new Map(waiting)
  const begunNow = new Map<string, BegunWait>()
  const counts = new Map<string, number>()
  const changes: WaitChanges = { begun: [], ended: [], prolonged: [] }
  const { type } = at

  const supersede = (key: string): void => {
    const older = current.get(key)
    if (!older) return
    current.delete(key)
    const begun = begunNow.get(key)
    // Its row is written with the end of this fetch, as one that has ended already.
    if (begun) begun.state = 'superseded'
    else {
      const { batchId, place } = older
      changes.ended.push({
        batchId,
        place,
        type: type.type,
        state: 'superseded',
        problems: null,
        acceptedVersion: null,
      })
    }
    begunNow.delete(key)
  }

  const begin = (key: string, one: BegunWait): void => {
    changes.begun.push(one)
    begunNow.set(key, one)
    current.set(key, one)
    counts.set(one.orgId, (counts.get(one.orgId) ?? 0) + 1)
  }

  const note = ({ batch, offset }: Submitted, decision: Decision): void => {
    const { waiting: waits = [], gone = [], refused, repeated } = decision
    const resumedAt = resumedOf(batch)
    // Nothing waits and nothing begins to: that is nearly every fetch.
    if (current.size === 0 && waits.length === 0 && !resumedAt) return
    const waitsAt = new Map(waits.map((each) => [each.index, each]))
    const refusedAt = new Map(refused.map((each) => [each.index, each]))
    const isPassedOver = new Set([...repeated, ...gone])
    const originAt = originsOf(batch)
    for (const { index, id, keyedSha256 } of placesOf(batch, type.id)) {
      if (id === null || isPassedOver.has(index)) continue
      const key = entityKey(batch.org_id, id)
      const now = waitsAt.get(index)
      const resumed = resumedAt?.get(index)
      if (resumed) {
        const place = { batchId: resumed.batch_id, place: resumed.place }
        const older = current.get(key)
        if (now) {
          changes.prolonged.push({ ...place, missing: now.for })
          if (older) current.set(key, { ...older, missing: now.for })
        } else {
          const problems = refusedAt.get(index)?.problems ?? null
          const acceptedVersion = problems ? null : versionOf(offset, index)
          const state = problems ? 'refused' : 'accepted'
          changes.ended.push({ ...place, type: type.type, state, problems, acceptedVersion })
          current.delete(key)
        }
        continue
      }
      // What cannot come again in a newer version is not replaced by one either.
      if (hasVersions(type)) supersede(key)
      if (!now) continue
      begin(key, {
        batchId: batch.batch_id,
        place: index,
        orgId: batch.org_id,
        type: type.type,
        id,
        requestId: originAt(index).requestId,
        requestIndex: batch.first_index + index,
        version: versionOf(offset, index),
        topic: at.topic,
        partition: at.partition,
        keyedSha256,
        missing: now.for,
        since: batch.submitted_at,
        until: now.until,
        state: 'waiting',
      })
    }
  }

  return {
    of: (orgId, id) => current.get(entityKey(orgId, id)),
    note,
    begunBy: (orgId) => counts.get(orgId) ?? 0,
    changes,
  }
}

type Placed = { index: number; id: string | null; keyedSha256: Buffer | null }

/** Everything that a batch holds, refused by the edge or not, in its order. */
const placesOf = (batch: SubmittedBatch, idField: string): Placed[] => {
  const records = batch.records.map((record): Placed => {
    return { index: record.index, id: String(record[idField]), keyedSha256: record.keyed_sha256 }
  })
  // An id that was refused may be written in capitals, and still be that of a record.
  const refusals = batch.refusals.map(({ index, id }): Placed => {
    return { index, id: id?.toLowerCase() ?? null, keyedSha256: null }
  })
  return refusals.length === 0 ? records : [...records, ...refusals].sort((a, b) => a.index - b.index)
}
