import type { RecordType } from '../../record.js'
import { allData, readRequests, writeScope } from '../scopes.js'
import { errors, importExample, json, ref, retryAfter, uploadExample } from './answers.js'
import { dryRun, idempotencyKey, inQuery, prefer, scoped } from './parameters.js'
import { exampleOf, type Schema } from './record-schema.js'
import { waitParameters } from './waiting.js'

/** POST /v1/data/{type} */
export const uploadOf = (type: RecordType): Schema => {
  const answer = (status: 200 | 202 | 207, about: string, headers: Schema) => ({
    ...json(about, ref('UploadAnswer'), uploadExample(type, status)),
    headers,
  })
  const answerOrError = (status: 400 | 500, about: string, headers: Schema) => ({
    ...json(about, { anyOf: [ref('UploadAnswer'), ref('Error')] }, uploadExample(type, status)),
    headers,
  })
  return {
    tags: ['uploads'],
    operationId: `upload-${type.type}`,
    summary: `Upload ${type.type}`,
    description: `${type.about} ${referencesOf(type)}${scoped(writeScope(type.type), allData)}`,
    parameters: [dryRun, ...waitParameters, idempotencyKey, prefer],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            additionalProperties: false,
            required: ['records'],
            properties: { records: { type: 'array', minItems: 1, maxItems: type.limit, items: ref(type.type) } },
          },
          example: { records: [exampleOf(type)] },
        },
        ...linedContent(type),
      },
    },
    responses: {
      200: answer(200, 'Every record was accepted.', dryRunHeader),
      202: answer(202, 'Stored, and not decided yet: `Location` tells what becomes of it.', asyncHeaders),
      207: answer(207, 'Some records were accepted, others were not, or wait: see each batch.', {
        ...dryRunHeader,
        ...asyncHeaders,
        ...retryAfter,
      }),
      400: answerOrError(400, 'No record was accepted, or the request itself is wrong.', dryRunHeader),
      ...errors(401, 403, 405, 408, 409, 413, 415, 429, 431),
      500: answerOrError(500, 'The outcome is not known; retrying is safe.', retryAfter),
      ...errors(503),
    },
  }
}

/** POST /v1/imports/{type} */
export const importOf = (type: RecordType): Schema => ({
  tags: ['uploads'],
  operationId: `import-${type.type}`,
  summary: `Import ${type.type}: a body of any length`,
  description: `NDJSON or CSV of any length, plain or gzipped, read as it comes: each ${type.limit} records, or 4 MiB, are decided like one upload. The answer is NDJSON and goes out meanwhile: a line for each batch (\`ImportBatch\`), in the order of the body, and at last one with a \`summary\` (\`ImportSummary\`). Whatever ends it early, what was decided is kept, and the summary says \`"complete": false\` and how to go on: with an \`Idempotency-Key\`, by sending the same body again; what was decided is then answered, and not decided again. It waits where an upload would be answered 429, and reads no further while its answer is not read. ${referencesOf(type)}${scoped(writeScope(type.type), allData)}`,
  parameters: [dryRun, ...waitParameters, idempotencyKey],
  requestBody: { required: true, content: linedContent(type) },
  responses: {
    200: {
      description: 'A line for each batch, then the summary.',
      headers: dryRunHeader,
      content: { 'application/x-ndjson': { example: importExample(type) } },
    },
    ...errors(400, 401, 403, 405, 408, 415, 429, 431, 500, 503),
  },
})

/** A record on each line, in NDJSON or CSV. */
const linedContent = (type: RecordType): Schema => {
  const example = exampleOf(type)
  const row = Object.values(example).map(cell)
  return {
    // In NDJSON each line fits the schema; in CSV the columns are its fields, and an empty cell is an absent one.
    'application/x-ndjson': { schema: ref(type.type), example: `${JSON.stringify(example)}\n` },
    'text/csv': { schema: { type: 'string' }, example: `${Object.keys(example).join(',')}\n${row.join(',')}\n` },
  }
}

const cell = (value: unknown): string => {
  const text = String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const header = (description: string, schema: Schema): Schema => ({ description, schema: { type: 'string', ...schema } })
const dryRunHeader = { 'Weir-Dry-Run': header('there where nothing was kept', { const: 'true' }) }
const asyncHeaders = {
  Location: header('of the request, while some of it is pending or waits', { format: 'uri-reference' }),
  'Preference-Applied': header('what was preferred and done', { examples: ['respond-async'] }),
}

const referencesOf = (type: RecordType): string => {
  const targets = Object.values(type.fields).flatMap((field) => (field.kind === 'reference' ? [field.to] : []))
  const list = [...new Set(targets)].join(' and ')
  return list ? `Upload ${list} first, or let these wait for them: \`missing_references=wait\`. ` : ''
}

export const lookUpRequest = {
  tags: ['requests'],
  operationId: 'look-up-request',
  summary: 'What became of a request',
  description: `The same answer as the upload's, at any time after; of an interaction, its verdict in the same form, by the \`X-Request-Id\` of its answer; of one that was sent again with its \`Idempotency-Key\`, the verdict that accepted it, or else the last. Records that waited are told as they stand now: \`waiting\` has those that still wait, \`waited\` what came of the others. Batches that are not decided yet are \`pending\`; one that may never have been submitted is a 500, and retrying it is safe. ${scoped(readRequests)}`,
  parameters: [{ name: 'request_id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
  responses: {
    200: json('The outcome so far.', ref('UploadAnswer')),
    ...errors(400, 401, 403, 404, 405, 414, 429, 431, 500, 503),
  },
}

export const health = (summary: string, answers: Schema): Schema => ({
  tags: ['health'],
  summary,
  security: [],
  responses: { ...answers, ...errors(405, 431) },
})
export const readiness = {
  ...health('Whether every part works', {
    200: json('All parts work.', ref('Readiness')),
    503: json('Some part does not.', ref('Readiness')),
    ...errors(400),
  }),
  parameters: [inQuery('for', 'only the parts that uploads need', { type: 'string', enum: ['uploads'] })],
}
