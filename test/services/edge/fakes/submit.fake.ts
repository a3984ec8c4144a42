import { createBatchCodec } from '#schemas/byte-path/byte-path.js'
import { type Catalogue, catalogue as published } from '#schemas/catalogue.js'
import type { SubmittedBatch, SubmittedRecord, VerdictEvent } from '#schemas/events.js'
import type { Problem } from '#schemas/problem.js'
import type { BatchOutcome, Submit } from '../../../../services/edge/batches/outcome.js'

export type FakeSubmit = Submit & {
  submitted: { type: string; batch: SubmittedBatch; lane: number | undefined }[]
  /** What is wrong with a record that the edge let pass; nothing unless a test says so. */
  problemsOf: (record: SubmittedRecord) => Problem[]
  /** When set, what becomes of every batch, or of each. */
  outcome: BatchOutcome | ((batch: SubmittedBatch) => BatchOutcome) | undefined
}

/** Decides at once, as integrity would in a world where every reference is known. */
export const createFakeSubmit = (catalogue: Catalogue = published): FakeSubmit => {
  const outcomeOf = (type: string, batch: SubmittedBatch): BatchOutcome => {
    if (!fake.outcome) return { verdict: verdictOn(type, batch, fake.problemsOf) }
    return typeof fake.outcome === 'function' ? fake.outcome(batch) : fake.outcome
  }
  const submit: Submit = async (type, given, options) => {
    const { encode, decode } = codecOf(type, catalogue)
    const batches = given.map((batch) => decode(encode(batch)))
    for (const [i, batch] of batches.entries()) fake.submitted.push({ type, batch, lane: given[i]?.lane })
    const outcomes = batches.map((batch) => outcomeOf(type, batch))
    const lost = outcomes.findIndex((outcome) => 'unknown' in outcome && outcome.unknown === 'not published')
    const written = lost < 0 ? batches.length : lost
    options?.onWritten?.(written)
    // Nothing is published after a batch that Kafka did not take.
    return outcomes.map((outcome, i) => (i < written ? outcome : { unknown: 'not published' }))
  }
  const fake: FakeSubmit = Object.assign(submit, { submitted: [], problemsOf: () => [], outcome: undefined })
  return fake
}

const codecOf = (name: string, catalogue: Catalogue) => {
  const type = catalogue.all.get(name)
  if (!type) throw new Error(`nothing is called ${name}`)
  return createBatchCodec(type)
}

/** The field that identifies a record of this type. */
const idOf = (type: string): string => published.all.get(type)?.id ?? 'id'

export const verdictOn = (
  type: string,
  batch: SubmittedBatch,
  problemsOf: FakeSubmit['problemsOf'] = () => [],
): VerdictEvent => {
  const byIntegrity = batch.records.flatMap((record) => {
    const problems = problemsOf(record)
    return problems.length > 0 ? [{ index: record.index, id: String(record[idOf(type)]), problems }] : []
  })
  const byEdge = batch.refusals.map(({ index, id, problems }) => ({ index, id, problems }))
  const { org_id, request_id, batch_id, batches, first_index, body_sha256, submitted_at } = batch
  return {
    org_id,
    request_id,
    batch_id,
    type,
    batch: batch.batch,
    batches,
    first_index,
    body_sha256,
    decided_at: submitted_at,
    accepted: batch.records.length - byIntegrity.length,
    refused: [...byEdge, ...byIntegrity].sort((a, b) => a.index - b.index),
    waiting: [],
  }
}
