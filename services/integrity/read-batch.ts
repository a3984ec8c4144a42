import type { Submitted } from '#ledger/fence.js'
import { headerLength, type Registry, schemaIdOf, Undecodable, valueIn } from '#platform/registry.js'
import { CutOff, createScanBatch, type ScannedBatch } from '#schemas/byte-path/byte-path.js'
import { submittedSchema } from '#schemas/derive/avro.js'
import { subjectOf, submittedTopic } from '#schemas/derive/names.js'
import type { SubmittedBatch } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'

/** A message of the submitted log whose records are read only as far as a decision needs them. */
export type Scanned = Submitted & { batch: ScannedBatch; traceparent?: string }

/** Throws Undecodable or NewerSchema as the registry's decoder does. */
export type ReadBatch = (message: Buffer | null) => Promise<ScannedBatch>

/**
 * Reads submitted batches of one type. A batch of exactly this version's schema, which is nearly every one, is scanned as it
 * is. Any other, and one whose bytes are unusual or damaged, is decoded by the Avro library, which knows older schemas and
 * every way to write a value; it is then written anew with this version's schema, so that all batches look alike from here on.
 */
export const createReadBatch = async (
  type: RecordType,
  registry: Pick<Registry, 'prepare' | 'encoder' | 'decoder'>,
): Promise<ReadBatch> => {
  const schema = submittedSchema(type)
  const subject = subjectOf(submittedTopic(type.type))
  const ownSchemaId = await registry.prepare(subject, schema)
  const encode = await registry.encoder<SubmittedBatch>(subject, schema)
  const decode = registry.decoder<SubmittedBatch>(schema, { whole: true })
  const scan = createScanBatch(type)

  const scanAnew = (batch: SubmittedBatch): ScannedBatch => {
    try {
      const scanned = scan(encode(batch), headerLength)
      if (scanned) return scanned
    } catch (cause) {
      throw new Undecodable('it holds a value that cannot be written', { cause })
    }
    throw new Undecodable('it cannot be read as it is written')
  }
  const scanOwn = (message: Buffer): ScannedBatch | undefined => {
    try {
      return scan(message, headerLength)
    } catch (error) {
      // The Avro library would say so, too, but first make room for as many records as the damaged message says that it has.
      throw error instanceof CutOff ? new Undecodable(error.message, { cause: error }) : error
    }
  }
  return async (message) => {
    const bytes = valueIn(message)
    const scanned = schemaIdOf(bytes) === ownSchemaId ? scanOwn(bytes) : undefined
    return scanned ?? scanAnew(await decode(message))
  }
}
