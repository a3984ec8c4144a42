import type { Catalogue } from '../catalogue.js'
import { endpointsOf } from '../endpoints/all.js'
import type { Tag } from '../endpoints/endpoint.js'
import { errorAnswers } from '../endpoints/errors.js'
import { namesIn, type Schema } from '../endpoints/values.js'
import { operationOf, responseOf } from './openapi/operation.js'
import { createPublishSchema } from './openapi/published-schema.js'
import { recordSchema } from './openapi/record-schema.js'

/** The version of Weir in what it publishes; a test holds that package.json says the same. */
export const weirVersion = '0.1.0'

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
  const { publish, components } = createPublishSchema()
  const paths: Record<string, Schema> = {}
  for (const endpoint of endpointsOf(catalogue))
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method.toLowerCase()]: operationOf(endpoint, publish),
    }
  const responses = Object.entries(errorAnswers).map(([status, answer]) => [status, responseOf(answer, publish)])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Weir',
      version: weirVersion,
      summary: 'Structured records in; a typed, trustworthy stream out.',
      description: intro,
      contact: { name: 'the operator of this service, who issues its API keys' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.url ?? '/' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    security: [{ key: [] }],
    paths,
    components: {
      schemas: {
        ...Object.fromEntries([...catalogue.all.values()].map((type) => [type.type, recordSchema(type)])),
        ...Object.fromEntries(
          Object.entries(namesIn(catalogue)).map(([name, names]) => [name, { type: 'string', enum: names }]),
        ),
        ...components,
      },
      responses: Object.fromEntries(responses),
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

const tags: Readonly<Record<Tag, string>> = {
  uploads: 'Batches of records. Upload what others refer to first.',
  interactions: 'One interaction of a user with an item, and reading them back.',
  requests: 'What became of a request, and of a record.',
  rejections: 'Your refused records: look, mend, and submit again.',
  waiting: 'Your records that wait for what they refer to.',
  feeds: 'Accepted records as they change, without Kafka.',
  analytics: 'Ready answers about your records: sales, customers, offers, recommendations.',
  persons: 'What is kept about one person.',
  reference: 'What there is: types, topics, and whose key this is.',
  keys: "Your organisation's keys, for a key with `keys:manage`.",
  operators: "Organisations and keys. An operator's key also reads for any organisation, by `?org=`.",
  health: 'For operators; no key needed.',
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
