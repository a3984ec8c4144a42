import type { RecordType } from '../../record.js'
import { columnsOf } from '../../record.js'
import { derivedId } from '../../uuid.js'
import { readInteractions, writeScope } from '../scopes.js'
import { errorExample, errors, json, ref } from './answers.js'
import { idempotencyKey, inQuery, scoped } from './parameters.js'
import { exampleOf, fieldSchema, namesOf, type Schema } from './record-schema.js'
import { waitingInteraction, waitParameters } from './waiting.js'

/** POST /user-interactions */
export const recordInteraction = (type: RecordType): Schema => ({
  tags: ['interactions'],
  operationId: 'record-interaction',
  summary: 'Record an interaction',
  description: `${type.about} ${scoped(writeScope(type.type))}`,
  parameters: [...waitParameters, idempotencyKey],
  requestBody: {
    required: true,
    content: { 'application/json': { schema: ref(type.type), example: exampleOf(type) } },
  },
  responses: {
    201: json(
      'Recorded: the interaction as given, with its id and the time it was taken in.',
      {
        type: 'object',
        required: [...Object.keys(type.assigned), ...namesOf(type, (field) => field.required)],
        properties: Object.fromEntries(
          Object.entries(columnsOf(type)).map(([name, field]) => [name, fieldSchema(field)]),
        ),
      },
      { ...exampleOf(type), interaction_id: derivedId('example', type.type), recorded_at: '2024-05-31T12:00:01.234Z' },
    ),
    202: {
      ...json(
        'It waits for what it refers to, with `missing_references=wait`, and is recorded once that is there: `Location` tells what becomes of it.',
        {
          type: 'object',
          required: ['interaction_id', 'waiting', ...namesOf(type, (field) => field.required)],
          properties: {
            ...Object.fromEntries(Object.entries(type.fields).map(([name, field]) => [name, fieldSchema(field)])),
            interaction_id: { type: 'string', format: 'uuid' },
            waiting: waitingInteraction,
          },
        },
        {
          ...exampleOf(type),
          interaction_id: derivedId('example', type.type),
          waiting: {
            for: [{ field: 'item_id', type: 'shops', id: derivedId('example', 'missing') }],
            until: '2024-06-01T12:00:01.234Z',
          },
        },
      ),
      headers: {
        Location: { description: 'where it can be looked up', schema: { type: 'string', format: 'uri-reference' } },
      },
    },
    400: json(
      'Not recorded.',
      ref('Error'),
      errorExample(400, 'the interaction was refused: event_timestamp is required', [
        { field: 'event_timestamp', code: 'missing_field', message: 'event_timestamp is required' },
      ]),
    ),
    ...errors(401, 403, 405, 408, 409, 413, 415, 429, 431, 500, 503),
  },
})

const filters = ['student_id', 'user_id', 'item_type', 'item_id', 'interaction_type', 'platform', 'source']

/** GET /user-interactions */
export const listInteractions = (type: RecordType): Schema => {
  const moment = { type: ['string', 'integer'], format: 'date-time' }
  return {
    tags: ['interactions'],
    operationId: 'list-interactions',
    summary: 'Read interactions back',
    description: `Newest first, your own organisation's only, a moment behind. ${scoped(readInteractions)}`,
    parameters: [
      ...filters.flatMap((name) => {
        const field = type.fields[name]
        return field ? [inQuery(name, 'only those with this value', fieldSchema({ ...field, required: true }))] : []
      }),
      inQuery('from', 'only those from this event_timestamp on', moment),
      inQuery('to', 'only those before this event_timestamp', moment),
      inQuery('limit', 'how many at most', { type: 'integer', minimum: 1, maximum: 1000, default: 100 }),
      inQuery('cursor', 'next_cursor of the page before', { type: 'string' }),
    ],
    responses: {
      200: json('A page.', {
        type: 'object',
        required: ['interactions', 'next_cursor'],
        properties: {
          interactions: { type: 'array', items: ref('StoredInteraction') },
          next_cursor: { type: ['string', 'null'], description: 'null on the last page' },
        },
      }),
      ...errors(400, 401, 403, 405, 429, 431, 500, 503),
    },
  }
}
