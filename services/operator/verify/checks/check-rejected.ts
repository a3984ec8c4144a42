import { placeOf } from '#platform/kafka/partitions.js'
import { rejectedSchema } from '#schemas/derive/avro.js'
import { entityKey, rejectedTopic } from '#schemas/derive/names.js'
import { createHeadDecoder } from '../../command/decoder.js'
import { type ExpectedBatch, fate, missingOf, originOf } from '../expectations.js'
import { countOf } from '../read-submitted.js'
import { type CheckedType, readFrom, type Subject } from '../subject.js'
import { noteMissing } from './missing.js'

type Head = { org_id: string; batch_id: string; version: number; type: string }

/** Compares the rejected topic with what was refused, and ClickHouse with the topic. */
export const checkRejected = async (subject: Subject, written: ReadonlyMap<string, number>): Promise<void> => {
  const { topics, registry, types } = subject
  const decode = createHeadDecoder<Head>(registry, rejectedSchema(), ['org_id', 'batch_id', 'version', 'type'])
  const stretches = await topics.stretches([rejectedTopic], readFrom(subject))
  const progress = subject.progress('rejected', countOf(stretches))
  await topics.read(stretches, async ({ topic, partition, messages }) => {
    for (const { offset, value } of messages) {
      const head = await decode(value)
      // A rejection of a type that is not examined, or a message that was set aside.
      const one = types.get(head?.type ?? '')
      if (!head || !one || (subject.org !== undefined && head.org_id !== subject.org)) continue
      const isWritten = offset < (written.get(placeOf({ topic, partition })) ?? 0)
      see(subject, one, head, `${topic}/${partition}@${offset}`, isWritten)
    }
    progress.advance(messages.length)
  })
  progress.end()
  for (const one of types.values()) {
    noteMissing(subject, one, 'refused')
    await checkRejectionRows(subject, one)
  }
}

const see = (
  { differences }: Subject,
  { type, counts, expectations }: CheckedType,
  { org_id: orgId, batch_id: batchId, version }: Head,
  where: string,
  isWritten: boolean,
): void => {
  const seen = expectations.seeRejected({ orgId, id: null, key: entityKey(orgId, batchId), batchId, version })
  if (seen.as === 'expected') {
    counts.onRejected++
    if (isWritten) seen.expected.written++
  } else if (seen.as === 'unfounded') {
    const found = `version ${version} of batch ${batchId}, which was not refused`
    differences.add({ kind: 'rejection_unfounded', type: type.type, where, found })
  }
}

const checkRejectionRows = async (subject: Subject, { type, counts, expectations }: CheckedType): Promise<void> => {
  // Not by Math.min(...all): there may be more batches than a call takes arguments.
  const wanted = new Map<string, number>()
  let [from, to] = [Number.POSITIVE_INFINITY, 0]
  for (const expected of expectations.all()) {
    counts.inFlight += countSeen(expected) - expected.written
    if (expected.written === 0 || expected.written < expected.refused) continue
    // Of a batch whose records waited, some are refused with it and some later, each in another batch of the log.
    for (const origin of refusedOrigins(expected)) wanted.set(origin, (wanted.get(origin) ?? 0) + 1)
    from = Math.min(from, expected.decidedAt)
    to = Math.max(to, expected.decidedAt)
  }
  if (wanted.size === 0) return
  const rows = await subject.rows.rejections(type, { from, to })
  for (const [batchId, refused] of wanted) {
    const there = rows.get(batchId) ?? 0
    if (there >= refused) continue
    const found = `${there} of ${refused} rejections`
    subject.differences.add({ kind: 'rejection_row_missing', type: type.type, where: `batch ${batchId}`, found })
  }
}

/** The batch that each refused record of this one came in. */
const refusedOrigins = (expected: ExpectedBatch): string[] =>
  [...expected.fates].flatMap((now, index) =>
    now === fate.refused || now === fate.refusedSeen ? [originOf(expected, index)] : [],
  )

const countSeen = (expected: ExpectedBatch): number => expected.refused - missingOf(expected, 'refused').length
