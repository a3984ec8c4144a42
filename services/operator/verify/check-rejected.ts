import { placeOf } from '#platform/kafka/partitions.js'
import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import { rejectedSchema } from '#schemas/derive/avro.js'
import { database, entityKey, rejectedTopic, rejectionsLog } from '#schemas/derive/names.js'
import { createHeadDecoder } from '../desk/decoder.js'
import { type Expected, missingOf } from './expectations.js'
import { countOf } from './read-submitted.js'
import { readFrom, type Subject, type TypeUnder } from './subject.js'

type Head = { org_id: string; batch_id: string; version: number; type: string }

/** The rejected topic beside what was refused, and ClickHouse beside the topic. */
export const checkRejected = async (subject: Subject, written: ReadonlyMap<string, number>): Promise<void> => {
  const { kafka, registry, types, differences } = subject
  const decode = createHeadDecoder<Head>(registry, rejectedSchema(), ['org_id', 'batch_id', 'version', 'type'])
  const stretches = await stretchesOf(kafka, [rejectedTopic], readFrom(subject))
  const progress = subject.progress('rejected', countOf(stretches))
  await readTopics(kafka, stretches, async ({ topic, partition, messages }) => {
    for (const { offset, value } of messages) {
      const head = await decode(value)
      // Without a type that is looked at: another's, or a message that was set aside.
      const one = types.get(head?.type ?? '')
      if (!head || !one || (subject.org !== undefined && head.org_id !== subject.org)) continue
      const { org_id: orgId, batch_id: batchId, version } = head
      const seen = one.expectations.seeRejected({ orgId, key: entityKey(orgId, batchId), batchId, version })
      if (seen.as === 'expected') {
        one.figures.onRejected++
        if (offset < (written.get(placeOf({ topic, partition })) ?? 0)) seen.expected.written++
      } else if (seen.as === 'unfounded') {
        const found = `version ${version} of batch ${batchId}, which was not refused`
        differences.add({
          kind: 'rejection_unfounded',
          type: one.type.type,
          where: `${topic}/${partition}@${offset}`,
          found,
        })
      }
    }
    progress.advance(messages.length)
  })
  progress.end()
  for (const one of types.values()) {
    noteMissing(subject, one)
    await checkRejectionRows(subject, one)
  }
}

const noteMissing = ({ differences }: Subject, { type, figures, expectations }: TypeUnder): void => {
  for (const expected of expectations.all()) {
    for (const index of missingOf(expected, 'refused')) {
      if (expected.isInFlight) figures.inFlight++
      else {
        const where = `record ${index} of batch ${expected.batchId}`
        differences.add({ kind: 'rejection_missing', type: type.type, where, found: `not on ${rejectedTopic}` })
      }
    }
  }
}

const checkRejectionRows = async (subject: Subject, { type, figures, expectations }: TypeUnder): Promise<void> => {
  // Without a loop over all of them for the arguments of Math.min: there may be more than a call takes.
  const wanted: Expected[] = []
  let [from, to] = [Number.POSITIVE_INFINITY, 0]
  for (const expected of expectations.all()) {
    figures.inFlight += countSeen(expected) - expected.written
    if (expected.written === 0 || expected.written < expected.refused) continue
    wanted.push(expected)
    from = Math.min(from, expected.decidedAt)
    to = Math.max(to, expected.decidedAt)
  }
  if (wanted.length === 0) return
  const rows = await subject.clickhouse.query<{ batch_id: string; records: string }>(
    `select toString(batch_id) as batch_id, uniqExact(index) as records
     from ${database}.${rejectionsLog}
     where type = {type:String} and rejected_at >= fromUnixTimestamp64Milli({from:Int64})
       and rejected_at <= fromUnixTimestamp64Milli({to:Int64})
     group by batch_id`,
    { type: type.type, from, to },
  )
  const found = new Map(rows.map(({ batch_id, records }) => [batch_id, Number(records)]))
  for (const { batchId, refused } of wanted) {
    const there = found.get(batchId) ?? 0
    if (there >= refused) continue
    const where = `batch ${batchId}`
    subject.differences.add({
      kind: 'rejection_row_missing',
      type: type.type,
      where,
      found: `${there} of ${refused} rejections`,
    })
  }
}

const countSeen = (expected: Expected): number => expected.refused - missingOf(expected, 'refused').length
