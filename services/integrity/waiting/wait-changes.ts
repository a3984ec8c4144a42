import type { Span, Submitted } from '#ledger/fence.js'
import type { BegunWait, HeldWait, WaitChanges } from '#ledger/waiting/waits.js'
import { type Decision, noRoom, type Room, resumedOf, type StillWaiting } from '#schemas/decide.js'
import { originsOf } from '#schemas/derive/decided-events.js'
import type { Refusal, SubmittedBatch } from '#schemas/events.js'
import { hasVersions } from '#schemas/record.js'
import { versionOf } from '#schemas/version.js'

/**
 * The records that wait while a fetch is decided, batch after batch, and what the decisions change among them. `waiting` are those in the
 * fetch's lane, as far as the fetch is about their ids.
 */
export const createWaitsOfFetch = (
  at: Span,
  waiting: readonly HeldWait[],
  sizeOf: (batchId: string, place: number) => number,
) => {
  /** By organisation, and there by id. */
  const current = new Map<string, Map<string, StillWaiting>>()
  const begunNow = new Map<StillWaiting, BegunWait>()
  const currentOf = (orgId: string): Map<string, StillWaiting> => {
    const known = current.get(orgId)
    if (known) return known
    const none = new Map<string, StillWaiting>()
    current.set(orgId, none)
    return none
  }
  for (const one of waiting) currentOf(one.orgId).set(one.id, one)
  const counts = new Map<string, Room>()
  const changes: WaitChanges = { begun: [], ended: [], prolonged: [] }
  const begunBy = (orgId: string): Room => counts.get(orgId) ?? noRoom
  const { type } = at

  const supersede = (older: StillWaiting): void => {
    const begun = begunNow.get(older)
    // Its row is written with the end of this fetch, as one that has ended already.
    if (begun) begun.state = 'superseded'
    else {
      const { batchId, place } = older
      const ended = { state: 'superseded', problems: null, acceptedVersion: null } as const
      changes.ended.push({ batchId, place, type: type.type, ...ended })
    }
  }

  /** Notes what the decision on a batch changes. */
  const note = ({ batch, offset }: Submitted, decision: Decision): void => {
    const { waiting: waits = [], gone = [], refused, repeated } = decision
    const resumedAt = resumedOf(batch)
    const waitNow = currentOf(batch.org_id)
    // Nothing waits and nothing begins to: that is nearly every batch.
    if (waitNow.size === 0 && waits.length === 0 && !resumedAt) return
    const waitsAt = new Map(waits.map((each) => [each.index, each]))
    const refusedAt = new Map(refused.map((each) => [each.index, each]))
    const isPassedOver = new Set([...repeated, ...gone])
    const originAt = originsOf(batch)
    for (const place of placesOf(batch)) {
      const { index } = place
      const now = waitsAt.get(index)
      // Most are neither, and this is asked of each record of a lane in which others wait.
      if (!now && !resumedAt && waitNow.size === 0) continue
      const id = idAt(place, type.id)
      const older = id === null ? undefined : waitNow.get(id)
      if (id === null || (!older && !now && !resumedAt) || isPassedOver.has(index)) continue
      const resumed = resumedAt?.get(index)
      if (resumed) {
        const row = { batchId: resumed.batch_id, place: resumed.place }
        // Both in one fetch: that is so only where they were decided before, and are decided again.
        const begun = older && begunNow.get(older)
        if (now) {
          if (begun) begun.missing = now.for
          else {
            changes.prolonged.push({ ...row, missing: now.for })
            if (older) waitNow.set(id, { ...older, missing: now.for })
          }
        } else {
          const problems = refusedAt.get(index)?.problems ?? null
          const acceptedVersion = problems ? null : versionOf(offset, index)
          const state = problems ? ('refused' as const) : ('accepted' as const)
          if (begun) Object.assign(begun, { state, problems, acceptedVersion })
          else changes.ended.push({ ...row, type: type.type, state, problems, acceptedVersion })
          waitNow.delete(id)
        }
        continue
      }
      // What cannot come again in a newer version is not replaced by one either.
      if (older && hasVersions(type)) {
        supersede(older)
        waitNow.delete(id)
      }
      if (!now) continue
      const begun: BegunWait = {
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
        keyedSha256: 'keyed_sha256' in place ? place.keyed_sha256 : null,
        missing: now.for,
        since: batch.submitted_at,
        until: now.until,
        size: sizeOf(batch.batch_id, index),
        state: 'waiting',
      }
      changes.begun.push(begun)
      begunNow.set(begun, begun)
      waitNow.set(id, begun)
      const { records, bytes } = begunBy(begun.orgId)
      counts.set(begun.orgId, { records: records + 1, bytes: bytes + begun.size })
    }
  }

  return {
    /** The record of this id that waits now. */
    of: (orgId: string, id: string): StillWaiting | undefined => current.get(orgId)?.get(id),
    note,
    /** How many records of an organisation have begun to wait in this fetch, and how many bytes they take. */
    begunBy,
    changes,
  }
}

type BatchEntry = SubmittedBatch['records'][number] | SubmittedBatch['refusals'][number]

/** Everything that a batch holds, refused by the edge or not, in its order. */
const placesOf = ({ records, refusals }: SubmittedBatch): readonly BatchEntry[] =>
  refusals.length === 0 ? records : [...records, ...refusals].sort((a, b) => a.index - b.index)

/** An id that was refused may be written in capitals, and still be that of a record. */
const idAt = (place: BatchEntry, idField: string): string | null =>
  'keyed_sha256' in place ? String(place[idField]) : ((place as Refusal).id?.toLowerCase() ?? null)
