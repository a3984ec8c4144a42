import { placeOf } from '#platform/kafka/partitions.js'
import type { Decision } from '#schemas/decide.js'
import { acceptedTopic, entityKey, rejectedTopic, verdictsTopic } from '#schemas/derive/names.js'
import type { AcceptedEvent, RejectedEvent, SubmittedBatch, VerdictEvent } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import type { Log } from './log.js'
import type { Judged, Oracle } from './oracle.js'
import type { Transaction } from './postgres.js'
import type { Published } from './publishing.js'
import { Violation } from './rules.js'

/** Sees every commit and every publication, and throws at the first that must not happen. */
export const createWitness = (submitted: Log<SubmittedBatch>, oracle: Oracle) => {
  const seen = new Map<string, unknown>()
  /** Everything that was ever published, gone or not. */
  const all: Published[] = []

  const sameAsBefore = (name: string, value: unknown): void => {
    const before = seen.get(name)
    if (before === undefined) seen.set(name, value)
    if (before === undefined || before === value) return
    const [one, other] = [JSON.stringify(before), JSON.stringify(value)]
    if (one !== other) throw new Violation(`${name} is published in two ways:\n${one}\n${other}`)
  }
  const judgedOf = (batchId: string): Judged => {
    const judged = oracle.judged.get(batchId)
    if (!judged) throw new Violation(`something of ${batchId} is published before it was decided`)
    return judged
  }

  const verdictPublished = (verdict: VerdictEvent): void => {
    sameAsBefore(`the verdict on ${verdict.batch_id}`, verdict)
    const judged = judgedOf(verdict.batch_id)
    const found = verdict.refused.map(({ index, problems }) => `#${index} ${problems[0]?.code}`)
    const refused = [...judged.refused].sort(([a], [b]) => a - b).map(([index, code]) => `#${index} ${code}`)
    const accepted = judged.accepted.length + judged.repeated.length
    const waiting = (verdict.waiting ?? []).map(({ index }) => index)
    const gone = (verdict as Decision).gone ?? []
    const say = (count: number, codes: string[], waits: number[], passed: number[]): string =>
      `${count} accepted, refused [${codes}], waiting [${waits}], gone [${passed}]`
    const is = say(verdict.accepted, found, waiting, gone)
    const shouldBe = say(accepted, refused, judged.waiting, judged.gone)
    if (is !== shouldBe) throw new Violation(`the verdict on ${verdict.batch_id} is ${is}; it should be ${shouldBe}`)
  }

  const rejectionPublished = (key: string, event: RejectedEvent): void => {
    sameAsBefore(`the rejection ${key} #${event.index}`, event)
    const { batch, refused, expired } = judgedOf(event.batch_id)
    const place = event.index - batch.first_index
    if (!refused.has(place) && !expired.has(place))
      throw new Violation(`record ${event.index} of ${event.batch_id} is rejected, but was not refused`)
  }

  const eventPublished = (topic: string, key: string, event: AcceptedEvent, { type, id }: RecordType): void => {
    sameAsBefore(`${topic} ${key} version ${event.version}`, event)
    const { accepted, released } = judgedOf(event.batch_id)
    const isMeant = [...accepted, ...released].some(
      (r) => r[id] === event[id] && r.name === event.name && r.region === event.region,
    )
    if (isMeant && topic === acceptedTopic(type) && key === entityKey(event.org_id, String(event[id]))) return
    throw new Violation(`${topic} ${key} version ${event.version} is published, but was not accepted`)
  }

  return {
    /** `before` and `after`: the cursor around the commit. */
    committed: ({ at, readAt }: Transaction, before: number, after: number, now: number): void => {
      if (after < before) throw new Violation(`the cursor of ${placeOf(at)} moved back from ${before} to ${after}`)
      if (after > before && at.first > before)
        throw new Violation(`${placeOf(at)}: offsets ${before} to ${at.first - 1} were stepped over`)
      for (const batch of submitted.read(at.topic, at.partition, before, after))
        oracle.take(at.type.type, batch, readAt, now)
    },

    all,
    /** What a verdict said of who was erased is said otherwise from now on. */
    saidOtherwise: (batchId: string): void => void seen.delete(`the verdict on ${batchId}`),
    published: (message: Published, type: RecordType): void => {
      const { topic, key, value } = message
      all.push(message)
      if (topic === verdictsTopic) verdictPublished(value as VerdictEvent)
      else if (topic === rejectedTopic) rejectionPublished(key, value as RejectedEvent)
      else eventPublished(topic, key, value as AcceptedEvent, type)
    },
  }
}

export type Witness = ReturnType<typeof createWitness>
