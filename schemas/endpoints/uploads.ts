import { exampleOf } from '../derive/openapi/record-schema.js'
import { allData, writeScope } from '../derive/scopes.js'
import { csvOf } from '../derive/type-reference/snippets.js'
import { hasVersions, type RecordType } from '../record.js'
import { derivedId } from '../uuid.js'
import { type Content, endpoint, textOf } from './endpoint.js'
import { error, errorAnswer, errorFields, retryAfter } from './errors.js'
import * as v from './values.js'
import { waitQuery } from './waiting.js'

// Batches of records, an address for each type; and what became of them.

const recordError = v.named('RecordError', { index: v.index, line: v.line, id: v.givenId, problems: v.problems })
const recordWait = v.named('RecordWait', {
  index: v.index,
  line: v.line,
  id: v.uuid,
  for: v.list(v.reference, 'what is missing'),
  until: v.instant,
})
const recordWaited = v.named('RecordWaited', {
  index: v.index,
  line: v.line,
  id: v.uuid,
  state: v.oneOf(['accepted', 'refused', 'superseded', 'cancelled'], {
    description:
      '`accepted`: what was missing came. `refused`: its time was up; it is among `errors` too. `superseded`: a newer record of the same id took its place. `cancelled`: somebody of your organisation ended it.',
  }),
  at: v.meaning(v.instant, 'when it ended to wait'),
})

const batchStatus: v.Schema<200 | 202 | 207 | 400 | 500> = { type: 'integer', enum: [200, 202, 207, 400, 500] }
const batchAnswer = v.named('BatchAnswer', {
  batch: v.integer(1),
  status: batchStatus,
  data: v.object({
    status: v.oneOf(['success', 'partial', 'error', 'pending']),
    type: v.recordType,
    message: v.text('a summary'),
    request_id: v.uuid,
    batch_id: v.nullable(v.uuid, 'null where the batch is pending and its id is not known'),
    error: v.nullable(v.text(), 'null where nothing was refused'),
    errors: v.optional(v.list(recordError)),
    waiting: v.optional(v.list(recordWait, 'records that wait for what they refer to')),
    waited: v.optional(
      v.list(
        recordWaited,
        'records that waited, and what came of them; in a look-up, or where a request is sent again',
      ),
    ),
  }),
})
export const uploadAnswer = v.named('UploadAnswer', {
  request_id: v.uuid,
  type: v.recordType,
  batches: v.list(batchAnswer, undefined, { minItems: 1 }),
})

export type UploadAnswered = v.ValueOf<typeof uploadAnswer>

const importStatus: v.Schema<200 | 207 | 400 | 500> = { type: 'integer', enum: [200, 207, 400, 500] }
export const importBatch = v.named('ImportBatch', {
  batch: v.integer(1, 'counted over the whole import'),
  status: importStatus,
  request_id: v.meaning(v.uuid, 'of the part of the import that the batch is of'),
  batch_id: v.nullable(v.uuid),
  from_line: v.integer(1),
  to_line: v.integer(1),
  accepted: v.count(),
  refused: v.list(recordError, '`index` is counted over the whole import'),
  waiting: v.list(recordWait, 'likewise'),
})
export const importSummary = v.named('ImportSummary', {
  summary: v.object({
    request_id: v.uuid,
    type: v.recordType,
    records: v.count('in the batches above'),
    accepted: v.count(),
    refused: v.count(),
    waiting: v.count(),
    batches: v.count(),
    complete: v.flag('whether all of the body was read and decided'),
    message: v.text('what happened and, where it is not complete, how to go on'),
  }),
})

const dryRun = v.byDefault(
  v.flag(
    'With `true`: all checks and the same answer, but no effect. Nothing is kept, and no Idempotency-Key is used up.',
  ),
  false,
)
const dryRunHeader = { 'Weir-Dry-Run': v.text('there where nothing was kept', { const: 'true' }) }
const asyncHeaders = {
  Location: v.text('of the request, while some of it is pending or waits', { format: 'uri-reference' }),
  'Preference-Applied': v.text('what was preferred and done', { examples: ['respond-async'] }),
}

/** How many records a request with `if_version` may hold. */
export const mostVersions = 100
const ifVersion = v.optional(
  v.text(
    'Takes the request only if each record replaces what its sender has seen: for each, in their order and with commas between them, the `version` of the accepted record of its id (`current_version` of a rejection), or `none` where there is none. Otherwise nothing is taken, and the answer is a 409 that shows both. For 100 records at the most.',
    {
      pattern: '^(none|[0-9]{1,16})(,(none|[0-9]{1,16}))*$',
      examples: ['none', '8192'],
      refusal: `if_version must be a version or none for each record, with commas between them, of ${mostVersions} records at the most`,
    },
  ),
)
export const versionConflict = v.named('VersionConflict', {
  index: v.index,
  id: v.uuid,
  sent: v.anyObject('the record as it was sent'),
  current: v.nullable(
    v.object({
      version: v.integer(0, 'what `if_version` has to be to overwrite it'),
      accepted_at: v.instant,
      record: v.anyObject('as it is now'),
    }),
    'what it would replace; null where there is nothing',
  ),
})
export type ConflictAnswered = v.ValueOf<typeof versionConflict>
const conflict = v.named('Conflict', {
  ...errorFields,
  conflicts: v.optional(v.list(versionConflict, 'records that would replace something else than `if_version` says')),
})

const uploadQuery = { dry_run: dryRun, if_version: ifVersion, ...waitQuery }
// To TypeScript it looks the same: what is not declared is never read.
const { if_version: _, ...others } = uploadQuery
const withoutVersions = others as typeof uploadQuery

/** data:write is for the types that replace each other; a stream has a scope of its own. */
const scopesFor = (type: RecordType) => ({
  scope: writeScope(type.type),
  ...(hasVersions(type) && { orScope: allData }),
})

/** POST /v1/data/{type} */
export const uploadOf = (type: RecordType) => {
  const answer = <S extends v.Schema>(
    status: ExampleStatus,
    about: string,
    schema: S,
    headers: Record<string, v.Schema>,
  ) => ({ about, schema, headers, example: uploadExample(type, status) })
  const answerOrError: v.Schema<UploadAnswered> = { anyOf: [uploadAnswer, error] }
  return endpoint('POST', `/v1/data/${type.type}`, `upload-${type.type}`, 'uploads', {
    summary: `Upload ${type.type}`,
    about: `${type.about}${firstOf(type)}${assignedOf(type)}`,
    ...scopesFor(type),
    query: hasVersions(type) ? uploadQuery : withoutVersions,
    ...(!hasVersions(type) && {
      elsewhere: { if_version: `if_version is not for ${type.type}: they replace nothing` },
    }),
    takesKey: true,
    takesPrefer: true,
    body: {
      schema: v.closed({
        records: v.list({ $ref: type.type }, undefined, { minItems: 1, maxItems: type.limit }),
      }),
      example: { records: [exampleOf(type)] },
      lined: linesOf(type),
    },
    answers: {
      200: answer(200, 'Every record was accepted.', uploadAnswer, dryRunHeader),
      202: answer(202, 'Stored, and not decided yet: `Location` tells what becomes of it.', uploadAnswer, asyncHeaders),
      207: answer(207, 'Some records were accepted, others were not, or wait: see each batch.', uploadAnswer, {
        ...dryRunHeader,
        ...asyncHeaders,
        ...retryAfter,
      }),
      400: answer(400, 'No record was accepted, or the request itself is wrong.', answerOrError, dryRunHeader),
      409: {
        ...errorAnswer(
          409,
          `This Idempotency-Key was used with another body${hasVersions(type) ? ', or `if_version` is not what is current' : ''}.`,
        ),
        schema: conflict,
      },
      500: answer(500, 'The outcome is not known; retrying is safe.', answerOrError, retryAfter),
    },
  })
}

/** POST /v1/imports/{type} */
export const importOf = (type: RecordType) =>
  endpoint('POST', `/v1/imports/${type.type}`, `import-${type.type}`, 'uploads', {
    summary: `Import ${type.type}: a body of any length`,
    about: `NDJSON or CSV of any length, plain or gzipped, read as it comes: each ${type.limit} records, or 4 MiB, are decided like one upload. The answer is NDJSON and goes out meanwhile: a line for each batch (\`ImportBatch\`), in the order of the body, and at last one with a \`summary\` (\`ImportSummary\`). Whatever ends it early, what was decided is kept, and the summary says \`"complete": false\` and how to go on: with an \`Idempotency-Key\`, by sending the same body again; what was decided is then answered, and not decided again. It waits where an upload would be answered 429, and reads no further while its answer is not read.${firstOf(type)}${assignedOf(type)}`,
    ...scopesFor(type),
    query: { dry_run: dryRun, ...waitQuery },
    takesKey: true,
    body: { isStreamed: true, lined: linesOf(type) },
    answers: {
      200: {
        about: 'A line for each batch, then the summary.',
        headers: dryRunHeader,
        content: textOf('application/x-ndjson', { anyOf: [importBatch, importSummary] }, importExample(type)),
      },
    },
  })

const firstOf = (type: RecordType): string => {
  const targets = Object.values(type.fields).flatMap((field) =>
    field.kind === 'reference' ? [field.to] : field.kind === 'item' ? ['the items'] : [],
  )
  const first = [...new Set(targets)].join(' and ')
  return first ? ` Upload ${first} first, or let these wait for them: \`missing_references=wait\`.` : ''
}

const assignedOf = (type: RecordType): string =>
  hasVersions(type)
    ? ''
    : ` The service gives each its ${Object.keys(type.assigned).join(' and ')}; with an \`Idempotency-Key\`, the same each time that the request is sent.`

/** A record on each line. In CSV the columns are its fields, and an empty cell is an absent one. */
const linesOf = (type: RecordType): Record<string, Content> => {
  const example = exampleOf(type)
  return {
    ...textOf('application/x-ndjson', { $ref: type.type }, `${JSON.stringify(example)}\n`, 'a record on each line'),
    'text/csv': { schema: v.text(), example: csvOf(example) },
  }
}

const requestIdExample = derivedId('example', 'request')
const batchIdExample = derivedId('example', 'batch')
const exampleProblem = (type: RecordType) => {
  const required = Object.keys(type.fields).find((name) => type.fields[name]?.required)
  const field = hasVersions(type) ? type.id : required
  return { field, code: 'missing_field', message: `${field} is required` }
}

type ExampleStatus = 200 | 202 | 207 | 400 | 500

/** What an upload of one or two records is answered with this status. */
export const uploadExample = (type: RecordType, status: ExampleStatus): object => {
  const problem = exampleProblem(type)
  const refused = (at: number) => ({ errors: [{ index: at, id: null, problems: [problem] }] })
  const first = `the first is records[${status === 207 ? 1 : 0}]: ${problem.message}`
  const unknown = `outcome unknown; retrying is safe; GET /v1/requests/${requestIdExample} tells`
  const outcome = {
    200: { status: 'success', message: '1 record accepted', error: null },
    202: { status: 'pending', message: 'not decided yet', error: null },
    207: { status: 'partial', message: '1 of 2 records accepted', error: `1 of 2 records refused; ${first}` },
    400: { status: 'error', message: '0 of 1 record accepted', error: `1 of 1 record refused; ${first}` },
    500: { status: 'error', message: 'no verdict came in time', error: unknown },
  }[status]
  const request = { type: type.type, request_id: requestIdExample }
  const errors = status === 207 ? refused(1) : status === 400 ? refused(0) : {}
  return {
    ...request,
    batches: [{ batch: 1, status, data: { ...outcome, ...request, batch_id: batchIdExample, ...errors } }],
  }
}

/** What an import of two records is answered. */
const importExample = (type: RecordType): string => {
  const batch = {
    batch: 1,
    status: 207,
    request_id: derivedId('example', 'part'),
    batch_id: batchIdExample,
    from_line: 1,
    to_line: 2,
    accepted: 1,
    refused: [{ index: 1, line: 2, id: null, problems: [exampleProblem(type)] }],
    waiting: [],
  }
  const counts = { records: 2, accepted: 1, refused: 1, waiting: 0, batches: 1, complete: true }
  const summary = { request_id: requestIdExample, type: type.type, ...counts, message: '1 of 2 records accepted' }
  return `${JSON.stringify(batch)}\n${JSON.stringify({ summary })}\n`
}
