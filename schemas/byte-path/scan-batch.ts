import { type AvroField, columnFields, submittedSchema } from '../derive/avro.js'
import type { SubmittedBatch, SubmittedRecord } from '../events.js'
import type { Value } from '../field.js'
import type { RecordType } from '../record.js'
import { type AvroSource, createRead, createSkip, NotPlain, type Read, readBlock, readInt } from './plain-avro.js'

/** A submitted batch whose records were read only as far as a decision needs them; the rest stays as it lies in the message. */
export type ScannedBatch = SubmittedBatch & {
  message: Buffer
  /** Where in the message the fields of each record begin and end, in the order of `records`. */
  begins: number[]
  ends: number[]
}

/** Scans batches written with exactly this version's schema. Undefined where the bytes are not plain; throws CutOff. */
export const createScanBatch = (type: RecordType): ((message: Buffer, from: number) => ScannedBatch | undefined) => {
  const { fields } = submittedSchema(type) as { fields: AvroField[] }
  const steps = fields.map((field) => ({ name: field.name, read: createRead(field.type) }))
  const recordsAt = fields.findIndex(({ name }) => name === 'records')
  const [before, after] = [steps.slice(0, recordsAt), steps.slice(recordsAt + 1)]
  const scanRecords = createScanRecords(type)

  return (message, from) => {
    const source: AvroSource = { bytes: message, at: from }
    const batch: Record<string, unknown> & Scan = { message, records: [], begins: [], ends: [] }
    try {
      for (const { name, read } of before) batch[name] = read(source)
      scanRecords(source, batch)
      for (const { name, read } of after) batch[name] = read(source)
    } catch (error) {
      if (error instanceof NotPlain) return undefined
      throw error
    }
    return source.at === message.length ? (batch as unknown as ScannedBatch) : undefined
  }
}

type Scan = Pick<ScannedBatch, 'message' | 'records' | 'begins' | 'ends'>

const createScanRecords = (type: RecordType) => {
  const wanted = wantedFields(type)
  const readKeyed = createRead(['null', 'bytes']) as Read<Buffer | null>
  const steps = columnFields(type).map((field) => {
    const isWanted = wanted.has(field.name)
    return { name: field.name, isWanted, pass: isWanted ? createRead(field.type) : createSkip(field.type) }
  })

  return (source: AvroSource, { records, begins, ends }: Scan): void => {
    for (let left = readBlock(source); left > 0; left = readBlock(source)) {
      for (; left > 0; left--) {
        const record: SubmittedRecord = { index: readInt(source), keyed_sha256: readKeyed(source) }
        begins.push(source.at)
        for (const { name, isWanted, pass } of steps) {
          const value = pass(source)
          if (isWanted) record[name] = value as Value
        }
        ends.push(source.at)
        records.push(record)
      }
    }
  }
}

/** The fields that a decision and what is stored with it depend on. */
const wantedFields = (type: RecordType): Set<string> => {
  const names = new Set([type.id, ...Object.keys(type.assigned)])
  for (const [name, field] of Object.entries(type.fields)) {
    if (field.kind === 'reference' || field.kind === 'item' || typeof field.ofPerson === 'object') names.add(name)
    if (field.kind === 'item') names.add(field.by)
  }
  return names
}
