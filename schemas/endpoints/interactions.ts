import { exampleOf, fieldSchema, namesOf, storedSchema } from '../derive/openapi/record-schema.js'
import { readInteractions, writeScope } from '../derive/scopes.js'
import { columnsOf, type RecordType } from '../record.js'
import { derivedId } from '../uuid.js'
import { answered, endpoint } from './endpoint.js'
import { errorAnswer } from './errors.js'
import * as v from './values.js'
import { waitQuery } from './waiting.js'

// One interaction of a user with an item, and reading them back. Many in a request are uploads. Their fields are those of the catalogue.

/** POST /user-interactions */
export const recordInteractionOf = (type: RecordType) => {
  const isRequired = namesOf(type, (field) => field.required)
  const propertiesOf = (fields: RecordType['fields']) =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)]))
  const id = derivedId('example', type.type)
  const recorded: v.Schema<object> = {
    type: 'object',
    required: [...Object.keys(type.assigned), ...isRequired],
    properties: propertiesOf(columnsOf(type)),
  }
  const waiting: v.Schema<object> = {
    type: 'object',
    required: ['interaction_id', 'waiting', ...isRequired],
    properties: {
      ...propertiesOf(type.fields),
      interaction_id: { type: 'string', format: 'uuid' },
      waiting: v.object({ for: v.list(v.reference), until: v.instant }),
    },
  }
  return endpoint('POST', '/user-interactions', 'record-interaction', 'interactions', {
    summary: 'Record an interaction',
    about: type.about,
    scope: writeScope(type.type),
    query: waitQuery,
    elsewhere: { dry_run: `dry_run is for uploads, such as POST /v1/data/${type.type}; not for a single interaction` },
    takesKey: true,
    body: { schema: { $ref: type.type } as v.Schema<object>, example: exampleOf(type) },
    answers: {
      201: {
        about: 'Recorded: the interaction as given, with its id and the time it was taken in.',
        schema: recorded,
        example: { ...exampleOf(type), interaction_id: id, recorded_at: '2024-05-31T12:00:01.234Z' },
      },
      202: {
        about:
          'It waits for what it refers to, with `missing_references=wait`, and is recorded once that is there: `Location` tells what becomes of it.',
        schema: waiting,
        example: {
          ...exampleOf(type),
          interaction_id: id,
          waiting: {
            for: [{ field: 'item_id', type: 'shops', id: derivedId('example', 'missing') }],
            until: '2024-06-01T12:00:01.234Z',
          },
        },
        headers: { Location: v.text('where it can be looked up', { format: 'uri-reference' }) },
      },
      400: errorAnswer(400, 'Not recorded.', {
        message: 'the interaction was refused: event_timestamp is required',
        problems: [{ field: 'event_timestamp', code: 'missing_field', message: 'event_timestamp is required' }],
      }),
    },
  })
}

const filters = ['student_id', 'user_id', 'item_type', 'item_id', 'interaction_type', 'platform', 'source']

/** GET /user-interactions */
export const listInteractionsOf = (type: RecordType) => {
  // By their names they are not known to TypeScript.
  const filterQuery: Record<never, never> = Object.fromEntries(
    filters.flatMap((name) => {
      const field = type.fields[name]
      if (!field) return []
      const schema = fieldSchema({ ...field, required: true })
      const about = ['only those with this value', schema.description].filter(Boolean).join(': ')
      return [[name, v.optional(v.meaning(schema, about))]]
    }),
  )
  return endpoint('GET', '/user-interactions', 'list-interactions', 'interactions', {
    summary: 'Read interactions back',
    about: "Newest first, your own organisation's only, a moment behind.",
    scope: readInteractions,
    hidesUnknown: true,
    query: {
      ...filterQuery,
      from: v.optional(v.meaning(v.moment, 'only those from this event_timestamp on')),
      to: v.optional(v.meaning(v.moment, 'only those before this event_timestamp')),
      limit: v.limitTo(1000, 100),
      cursor: v.cursor,
    },
    answers: answered(
      'A page.',
      v.object({
        interactions: v.list<object>({ ...storedSchema(type), name: 'StoredInteraction' }),
        next_cursor: v.nextCursor,
      }),
    ),
  })
}
