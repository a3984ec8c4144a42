import { readKeys, writeKeys } from '../scopes.js'
import { errors, json, ref } from './answers.js'
import { inQuery } from './parameters.js'
import type { Schema } from './record-schema.js'

// Organisations and keys, for operators.

const text: Schema = { type: 'string' }
const instant = { type: 'string', format: 'date-time' }
const instantOrNull = { type: ['string', 'null'], format: 'date-time' }
const limit = {
  type: ['integer', 'null'],
  minimum: 0,
  maximum: 2_147_483_647,
  description: 'null: the default; 0: no limit',
}
const seconds = (least: number): Schema => ({ type: 'integer', minimum: least, maximum: 2_147_483_647 })
const scopes = { type: ['array', 'null'], items: text, description: 'null: all of them' }
const list = (items: Schema): Schema => ({ type: 'array', items })
const object = (properties: Schema, optional: string[] = []): Schema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})
const inPath = (name: string): Schema => ({ name, in: 'path', required: true, schema: text })

const operation = (
  operationId: string,
  summary: string,
  scope: string,
  answer: { status: number; schema: Schema },
  more: Schema = {},
): Schema => ({
  tags: ['operators'],
  operationId,
  summary,
  description: `Needs an operator's key (\`weir keys issue --operator\`) with the scope \`${scope}\`.`,
  ...more,
  responses: {
    [answer.status]: json(summary, answer.schema),
    ...errors(400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 429, 431, 500, 503),
  },
})
const body = (schema: Schema): Schema => ({
  required: false,
  content: { 'application/json': { schema: { ...schema, additionalProperties: false } } },
})

export const operatorPaths: Record<string, Schema> = {
  '/v1/operator/organisations': {
    get: operation('list-organisations', 'Every organisation', readKeys, {
      status: 200,
      schema: object({ organisations: list(ref('OrganisationListed')) }),
    }),
  },
  '/v1/operator/organisations/{org}/limits': {
    put: operation(
      'limit-organisation',
      'Set how much each key of an organisation may send',
      writeKeys,
      { status: 200, schema: object({ org: text, requests_per_second: limit, records_per_second: limit }) },
      {
        parameters: [inPath('org')],
        requestBody: body(
          object({ requests_per_second: limit, records_per_second: limit }, [
            'requests_per_second',
            'records_per_second',
          ]),
        ),
      },
    ),
  },
  '/v1/operator/keys': {
    get: operation(
      'list-keys',
      'Every key, without its secret',
      readKeys,
      { status: 200, schema: object({ keys: list(ref('KeyListed')) }) },
      { parameters: [inQuery('org', 'only those of this organisation', text)] },
    ),
    post: operation(
      'issue-key',
      'Make a key; its text is shown this once',
      writeKeys,
      { status: 201, schema: ref('KeyMade') },
      {
        requestBody: body(
          object({ org: text, scopes: list(text), expires_in_seconds: seconds(1) }, ['scopes', 'expires_in_seconds']),
        ),
      },
    ),
  },
  '/v1/operator/keys/{key_id}/rotate': {
    post: operation(
      'rotate-key',
      'Make a key like this one, which runs out after a day unless said otherwise',
      writeKeys,
      { status: 201, schema: ref('KeyMade') },
      {
        parameters: [inPath('key_id')],
        requestBody: body(
          object({ grace_seconds: seconds(0), expires_in_seconds: seconds(1) }, [
            'grace_seconds',
            'expires_in_seconds',
          ]),
        ),
      },
    ),
  },
  '/v1/operator/keys/{key_id}/revoke': {
    post: operation(
      'revoke-key',
      'End a key for good',
      writeKeys,
      { status: 200, schema: object({ key_id: text, org: text, revoked_at: instant }) },
      { parameters: [inPath('key_id')] },
    ),
  },
}

/** The objects in their answers. */
export const operatorSchemas: Record<string, Schema> = {
  OrganisationListed: object({
    org: text,
    created_at: instant,
    active_keys: { type: 'integer', minimum: 0 },
    requests_per_second: limit,
    records_per_second: limit,
  }),
  KeyListed: object({
    key_id: text,
    org: text,
    scopes,
    is_operator: { type: 'boolean' },
    state: { type: 'string', enum: ['active', 'expired', 'revoked'] },
    created_at: instant,
    expires_at: instantOrNull,
    revoked_at: instantOrNull,
    last_used_at: instantOrNull,
  }),
  KeyMade: object(
    {
      key_id: text,
      key: { type: 'string', description: 'the text of the key; only its hash is kept' },
      org: text,
      scopes,
      expires_at: instantOrNull,
      replaces: object({ key_id: text, expires_at: instant }),
    },
    ['replaces'],
  ),
}
