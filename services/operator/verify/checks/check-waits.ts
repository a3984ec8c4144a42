import type { Submitted } from '#ledger/fence.js'
import { isTheOneDecided, type StoredVerdict } from '#ledger/verdicts.js'
import type { Wait } from '#ledger/waiting/look-up.js'
import { submittedTopic } from '#schemas/derive/names.js'
import type { Resumed } from '#schemas/events.js'
import { generationOf, placeOfVersion, versionOf } from '#schemas/version.js'
import { fate } from '../expectations.js'
import { partitionsBehind } from '../log-places.js'
import { type CheckedType, clockMargin, type Subject } from '../subject.js'

/** A batch of which records began to wait, and where. `end`: what lies below it in this partition was read, and is decided. */
export type WaitingBatch = { one: CheckedType; partition: number; batchId: string; places: number[]; end: number }

// Their rows are held together.
const batchesAtOnce = 200

// A decision has its time when it begins, and is seen when it ends.
const longestDecision = 60_000

/**
 * Compares integrity.waiting with the log: what began to wait still waits, or has ended in a way that the log knows of. `begunAt`: what was
 * decided by then has been read.
 */
export const checkWaits = async (
  subject: Subject,
  batches: readonly WaitingBatch[],
  begunAt: number,
): Promise<void> => {
  const { until } = subject.range
  const readUntil = Math.min(begunAt - longestDecision, until === undefined ? begunAt : until - clockMargin)
  for (let from = 0; from < batches.length; from += batchesAtOnce) {
    const some = batches.slice(from, from + batchesAtOnce)
    const rows = rowsByPlace(await subject.decisions.waits(some.map(({ batchId }) => batchId)))
    const lacking = some.filter(({ batchId, places }) => places.some((place) => !rows.has(`${batchId}/${place}`)))
    // A row goes with the verdict that names it, maybe since that verdict was read.
    const kept =
      lacking.length > 0 ? await subject.decisions.verdicts(lacking.map(({ batchId }) => batchId)) : new Map()
    for (const batch of some) {
      for (const place of batch.places) {
        const row = rows.get(`${batch.batchId}/${place}`)
        if (row) await checkState(subject, batch, row, readUntil)
        else if (kept.has(batch.batchId)) {
          const where = `record ${place} of batch ${batch.batchId}`
          subject.differences.add({ kind: 'wait_missing', type: batch.one.type.type, where, found: 'no row of it' })
        }
      }
    }
  }
}

const checkState = async (
  subject: Subject,
  { one, partition: begunAt, end }: WaitingBatch,
  row: Wait,
  readUntil: number,
): Promise<void> => {
  const { differences } = subject
  const { counts, type, expectations, endedAnew } = one
  const where = `record ${row.place} of batch ${row.batchId}`
  switch (row.state) {
    case 'waiting':
    case 'superseded':
    case 'cancelled':
      counts[countOf[row.state]]++
      return
    case 'refused':
      // What it says otherwise than the log is found from the other side. Where verdicts are no longer kept, that one may be among them.
      if (endedAnew.has(nameOf(row)) || row.changedAt.getTime() >= readUntil || counts.forgotten > 0) return
      // An erasure may have taken the batch that says so.
      if (await hasHoles(subject, type.type, begunAt)) return
      differences.add({ kind: 'wait_disagrees', type: type.type, where, found: 'refused, but nowhere in the log' })
      return
    case 'accepted': {
      const { offset, index } = placeOfVersion(row.acceptedVersion ?? 0)
      const generation = generationOf(offset)
      const isLater = generation !== generationOf(end)
      if (offset >= end && !isLater) return
      // Where the lanes were changed while it waited, it was decided in the lane that its id has since.
      const [partition = begunAt] = isLater ? partitionsBehind(subject, type.type, row, offset) : []
      const decided = expectations.at({ partition, offset })
      // Where verdicts are no longer kept, that one may be among them.
      if (!decided && counts.forgotten > 0) return
      const now = decided?.fates[index]
      const isThere = now === fate.accepted || now === fate.acceptedSeen
      if (isThere && decided?.origins?.get(index) === row.batchId) return
      // A later generation may have been decided further than this looked.
      if (!decided && isLater) return
      const topic = submittedTopic(type.type, generation)
      if (!decided && (await subject.decisions.holes({ topic, partition })).has(offset)) return
      const place = `${topic}/${partition}@${offset}`
      const found = `accepted with version ${row.acceptedVersion}, but at ${place} it was not`
      differences.add({ kind: 'wait_disagrees', type: type.type, where, found })
      return
    }
    default:
      row.state satisfies never
  }
}

const hasHoles = async ({ layouts, decisions }: Subject, type: string, partition: number): Promise<boolean> => {
  for (const { generation } of layouts)
    if ((await decisions.holes({ topic: submittedTopic(type, generation), partition })).size > 0) return true
  return false
}

const countOf = { waiting: 'waitingForReferences', superseded: 'superseded', cancelled: 'cancelled' } as const

/** The same from the other side. `verdicts` were read before the rows, and both are written in one transaction. */
export const checkDecidedAnew = async (
  subject: Subject,
  { type, counts, endedAnew }: CheckedType,
  { topic, partition }: { topic: string; partition: number },
  decided: readonly Submitted[],
  verdicts: ReadonlyMap<string, StoredVerdict>,
): Promise<void> => {
  const anew = decided.flatMap(({ batch, offset }) => {
    const verdict = verdicts.get(batch.batch_id)
    const isOne = verdict !== undefined && isTheOneDecided(verdict, { topic, partition, offset })
    return isOne && batch.resumed?.length ? [{ resumed: batch.resumed, verdict, offset }] : []
  })
  if (anew.length === 0) return
  const origins = new Set(anew.flatMap(({ resumed }) => resumed.map(({ batch_id }) => batch_id)))
  const rows = rowsByPlace(await subject.decisions.waits([...origins]))
  for (const { resumed, verdict, offset } of anew) {
    const endOf = endsOf(verdict)
    for (const each of resumed) {
      const end = endOf(each.index)
      if (end === 'accepted' || end === 'refused') counts.decidedAnew++
      if (end !== 'waiting') endedAnew.add(`${each.batch_id}/${each.place}`)
      const row = rows.get(`${each.batch_id}/${each.place}`)
      // Pruned, with the verdict that named it.
      if (!row || agrees(end, row, each, versionOf(offset, each.index))) continue
      const where = `record ${each.place} of batch ${each.batch_id}`
      const version = row.state === 'accepted' ? ` with version ${row.acceptedVersion}` : ''
      const found = `${row.state}${version}, but ${end} at ${topic}/${partition}@${offset}`
      subject.differences.add({ kind: 'wait_disagrees', type: type.type, where, found })
    }
  }
}

type End = 'accepted' | 'refused' | 'waiting' | 'gone'

/** What a verdict makes of the record at a place. */
const endsOf = ({ refused, waiting = [], gone = [] }: StoredVerdict): ((index: number) => End) => {
  const ends = new Map<number, End>([
    ...refused.map(({ index }) => [index, 'refused'] as const),
    ...waiting.map(({ index }) => [index, 'waiting'] as const),
    ...gone.map((index) => [index, 'gone'] as const),
  ])
  return (index) => ends.get(index) ?? 'accepted'
}

const agrees = (end: End, row: Wait, resumed: Resumed, version: number): boolean => {
  switch (end) {
    case 'accepted':
      return row.state === 'accepted' && row.acceptedVersion === version && row.requestId === resumed.request_id
    case 'refused':
      return row.state === 'refused' && row.requestId === resumed.request_id
    // It went on waiting, and anything may have become of it since.
    case 'waiting':
      return true
    case 'gone':
      return row.state !== 'waiting'
    default:
      return end satisfies never
  }
}

const nameOf = ({ batchId, place }: Wait): string => `${batchId}/${place}`

const rowsByPlace = (rows: readonly Wait[]): Map<string, Wait> => new Map(rows.map((row) => [nameOf(row), row]))
