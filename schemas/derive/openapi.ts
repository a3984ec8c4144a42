import type { Catalogue } from '../catalogue.js'
import { answerSchemas, errorResponses, json } from './openapi/answers.js'
import { referencePaths, referenceSchemas } from './openapi/console.js'
import { listInteractions, recordInteraction } from './openapi/interactions.js'
import { lookingPaths, lookingSchemas } from './openapi/looking.js'
import { health, importOf, lookUpRequest, readiness, uploadOf } from './openapi/operations.js'
import { operatorPaths, operatorSchemas } from './openapi/operators.js'
import { recordSchema, type Schema, storedSchema } from './openapi/record-schema.js'
import { rejectionPaths, rejectionSchemas } from './openapi/rejections.js'
import { waitingPaths, waitingSchemas } from './openapi/waiting.js'

export type OpenApi = {
  openapi: string
  info: Schema
  servers: Schema[]
  tags: Schema[]
  security: Schema[]
  paths: Record<string, Schema>
  components: { schemas: Record<string, Schema>; responses: Record<string, Schema>; securitySchemes: Schema }
}

/** The HTTP interface as an OpenAPI document; `url` is where it is served. */
export const openapiOf = (catalogue: Catalogue, options: { url?: string } = {}): OpenApi => {
  const uploads = [...catalogue.uploads.values()]
  const types = [...catalogue.all.keys()]
  const uploadTypes = uploads.map(({ type }) => type)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Weir',
      version: '1.0.0',
      summary: 'Structured records in; a typed, trustworthy stream out.',
      description: intro,
    },
    servers: [{ url: options.url ?? '/' }],
    tags: [
      { name: 'uploads', description: 'Batches of records. Upload what others refer to first.' },
      { name: 'interactions', description: 'One interaction of a user with an item, and reading them back.' },
      { name: 'requests', description: 'What became of a request, and of a record.' },
      { name: 'rejections', description: 'Your refused records: look, mend, and submit again.' },
      { name: 'waiting', description: 'Your records that wait for what they refer to.' },
      { name: 'reference', description: 'What there is: types, topics, and whose key this is.' },
      {
        name: 'operators',
        description: "Organisations and keys. An operator's key also reads for any organisation, by `?org=`.",
      },
      { name: 'health', description: 'For operators; no key needed.' },
    ],
    security: [{ key: [] }],
    paths: {
      ...Object.fromEntries(uploads.map((type) => [`/v1/data/${type.type}`, { post: uploadOf(type) }])),
      ...Object.fromEntries(uploads.map((type) => [`/v1/imports/${type.type}`, { post: importOf(type) }])),
      '/user-interactions': {
        post: recordInteraction(catalogue.interaction),
        get: listInteractions(catalogue.interaction),
      },
      '/v1/requests/{request_id}': { get: lookUpRequest },
      ...rejectionPaths(types),
      ...waitingPaths(types, uploadTypes),
      ...lookingPaths(types, uploadTypes),
      ...referencePaths,
      ...operatorPaths,
      '/healthz': { get: health('Whether the process runs', { 200: json('It runs.', { type: 'object' }) }) },
      '/readyz': { get: readiness },
      '/metrics': {
        get: health('Figures for Prometheus', { 200: { description: 'Text.', content: { 'text/plain': {} } } }),
      },
    },
    components: {
      schemas: {
        ...Object.fromEntries([...catalogue.all.values()].map((type) => [type.type, recordSchema(type)])),
        ...answerSchemas(uploadTypes.concat(catalogue.interaction.type)),
        StoredInteraction: storedSchema(catalogue.interaction),
        ...rejectionSchemas(types),
        ...waitingSchemas(types, uploadTypes),
        ...lookingSchemas(types),
        ...referenceSchemas(types),
        ...operatorSchemas,
      },
      responses: errorResponses,
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, issued by the operator for one organisation.',
        },
      },
    },
  }
}

const intro = `Upload records in batches, record user interactions, and read back what became of them.

- **Order**: a record that refers to others is accepted only when those exist. Upload shops before their offers; or, with \`?missing_references=wait\`, in any order: a record then waits until what it refers to is there, and \`GET /v1/waiting\` tells what is still missing.
- **Ids**: a record whose id already exists replaces the one before; the same upload again changes nothing.
- **Deleting**: upload the record again with \`is_deleted: true\`. It leaves the views, goes on satisfying references, and subscribers get an event with \`is_deleted: true\`, no tombstone. The record uploaded without it is there again.
- **Retrying** is always safe, and \`Retry-After\` says when. With an \`Idempotency-Key\` a repeated request is the same request, with the same answer; keys are remembered for at least 24 hours.
- **Trying out**: \`?dry_run=true\` checks an upload and answers as the upload would, and has no effect.
- **Not waiting**: \`Prefer: respond-async\` answers 202 once the records are stored; \`GET /v1/requests/{request_id}\` tells the rest.
- **Refused records** are kept: \`GET /v1/rejections\` shows yours, and \`POST /v1/rejections/retry\` submits them again once their reason is gone.
- **Optional fields** may be left out or null. Unknown fields are refused: nothing is dropped, nothing is coerced.
- **Formats**: uploads are JSON, NDJSON (\`application/x-ndjson\`, a record on each line) or CSV (\`text/csv\`, the first row names the fields, an empty cell is an absent field). A line that cannot be read is a refused record with the code \`unreadable\`.
- **Files of any length** go to \`POST /v1/imports/{type}\`, which answers while it reads.
- Bodies may come gzipped, with \`Content-Encoding: gzip\`.`
