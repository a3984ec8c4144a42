// The door of this room: from the bytes of a request to Avro, and from the bytes of a batch to events, without a JavaScript object
// for each record. Only this file is imported from outside. Whatever is unusual is left to the readers of values, beside which
// all of this is held by property tests: `derive/validator.ts` for what comes in, an Avro library for what is read back.

// Requests → records as Avro: a JSON upload, records of NDJSON one by one, rows of CSV.
export { type AvroBytes, createAvroBytesFor } from './avro-bytes.js'
// Records → a batch as one event, and back.
export {
  createBatchCodec,
  createIdOf,
  createValuesEncoder,
  createValuesOf,
  type OutgoingBatch,
  type OutgoingRecord,
  recordIn,
} from './batch-bytes.js'
export { createCsvReader } from './csv-reader.js'
export { depthOf } from './json-bytes.js'
export { createReadUpload, createSentRecords, type ReadUpload } from './json-upload.js'
// A batch → as much of its records as a decision needs → accepted and rejected events.
export { CutOff } from './plain-avro.js'
export { createScanBatch, type ScannedBatch } from './scan-batch.js'
export { createSplice } from './spliced-events.js'
export { createStraightReader } from './straight-reader.js'
