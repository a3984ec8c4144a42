import { expect, it } from 'vitest'
import { breakingInOpenApi, changesInOpenApi } from '../../../deploy/release/compare-openapi.js'

/** One operation with a parameter, a body and an answer, of which a case changes something. */
const documentOf = () => ({
  paths: {
    '/things': {
      post: {
        security: [{ key: [] }],
        parameters: [
          { name: 'limit', in: 'query', required: false, schema: { type: 'integer', minimum: 1, maximum: 100 } },
        ] as Record<string, unknown>[],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Thing' } } } as Record<
            string,
            unknown
          >,
        },
        responses: {
          200: {
            headers: { 'Retry-After': {} } as Record<string, unknown>,
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Answer' } } },
          },
          404: { content: {} },
        } as Record<string, unknown>,
      },
      get: { security: [] as unknown[], responses: { 200: {} } } as Record<string, unknown>,
    } as Record<string, Record<string, unknown>>,
  },
  components: {
    schemas: {
      Thing: {
        type: 'object',
        additionalProperties: false,
        required: ['id'],
        properties: {
          id: { type: 'string', maxLength: 10, pattern: '^[a-z]+$' },
          colour: { type: 'string', enum: ['red', 'green'] },
          note: { type: ['string', 'null'] },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Thing' } },
        } as Record<string, Record<string, unknown>>,
      },
      Answer: {
        type: 'object',
        required: ['state', 'at'],
        properties: {
          state: { type: 'string', enum: ['done', 'pending'] },
          at: { type: 'string', format: 'date-time' },
          count: { type: 'integer' },
          either: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
        } as Record<string, Record<string, unknown>>,
      },
    },
  },
})
type Case = ReturnType<typeof documentOf>
const post = (document: Case) =>
  document.paths['/things']?.post as unknown as {
    parameters: Record<string, unknown>[]
    requestBody: { content: Record<string, unknown> }
    responses: Record<string, { headers: Record<string, unknown> }>
  }
const thing = ({ components }: Case) => components.schemas.Thing
const answer = ({ components }: Case) => components.schemas.Answer

const after = (change: (document: Case) => void): string[] => {
  const changed = documentOf()
  change(changed)
  return breakingInOpenApi(documentOf(), changed)
}

it('finds nothing where nothing changed', () => expect(after(() => {})).toEqual([]))

it.each<[string, (document: Case) => void]>([
  ['is gone', (d) => delete (d.paths as Record<string, unknown>)['/things']],
  ['GET /things is gone', (d) => delete d.paths['/things'].get],
  ['now needs a key', (d) => Object.assign(d.paths['/things'].get ?? {}, { security: [{ key: [] }] })],
  ['query limit is gone', (d) => post(d).parameters.pop()],
  ['query limit is now required', (d) => Object.assign(post(d).parameters[0] ?? {}, { required: true })],
  [
    'header Day is now required',
    (d) => post(d).parameters.push({ name: 'Day', in: 'header', required: true, schema: {} }),
  ],
  ['has a lower maximum', (d) => Object.assign(post(d).parameters[0]?.schema ?? {}, { maximum: 50 })],
  ['has a higher minimum', (d) => Object.assign(post(d).parameters[0]?.schema ?? {}, { minimum: 2 })],
  ['as application/json is gone', (d) => delete post(d).requestBody.content['application/json']],
  [
    '.size is now required',
    (d) => {
      thing(d).properties.size = { type: 'integer' }
      thing(d).required.push('size')
    },
  ],
  ['.note is now required', (d) => thing(d).required.push('note')],
  ['.note is gone', (d) => delete thing(d).properties.note],
  ['was string or null and is string', (d) => Object.assign(thing(d).properties.note ?? {}, { type: 'string' })],
  ['is never green any more', (d) => Object.assign(thing(d).properties.colour ?? {}, { enum: ['red', 'blue'] })],
  ['has a lower maxLength', (d) => Object.assign(thing(d).properties.id ?? {}, { maxLength: 9 })],
  ['has another pattern', (d) => Object.assign(thing(d).properties.id ?? {}, { pattern: '^a' })],
  ['is now one of x', (d) => Object.assign(thing(d).properties.id ?? {}, { enum: ['x'] })],
  ['answer 200 is gone', (d) => delete post(d).responses[200]],
  ['answer 200 has no Retry-After any more', (d) => delete post(d).responses[200]?.headers['Retry-After']],
  ['.count is gone', (d) => delete answer(d).properties.count],
  ['.at is no longer always there', (d) => answer(d).required.pop()],
  ['was integer and is string', (d) => Object.assign(answer(d).properties.count ?? {}, { type: 'string' })],
  [
    'was integer and is integer or null',
    (d) => Object.assign(answer(d).properties.count ?? {}, { type: ['integer', 'null'] }),
  ],
  ['is never pending any more', (d) => Object.assign(answer(d).properties.state ?? {}, { enum: ['done'] })],
  ['has the form date', (d) => Object.assign(answer(d).properties.at ?? {}, { format: 'date' })],
  [
    'was integer and is boolean',
    (d) => Object.assign(answer(d).properties.either ?? {}, { anyOf: [{ type: 'string' }, { type: 'boolean' }] }),
  ],
])('finds that something %s', (problem, change) => {
  const problems = after(change)
  expect(problems.length).toBeGreaterThan(0)
  expect(problems.join('\n')).toContain(problem)
})

it.each<[string, string | undefined, (document: Case) => void]>([
  ['a path', 'GET /more is new', (d) => Object.assign(d.paths, { '/more': { get: {} } })],
  ['an operation', 'PUT /things is new', (d) => Object.assign(d.paths['/things'], { put: {} })],
  [
    'an optional parameter',
    'POST /things: query page is new',
    (d) => post(d).parameters.push({ name: 'page', in: 'query', schema: {} }),
  ],
  [
    'a media type',
    'POST /things: the body as text/csv is new',
    (d) => Object.assign(post(d).requestBody.content, { 'text/csv': {} }),
  ],
  [
    'an optional field of a request',
    'POST /things: the body (application/json).size is new and optional: integer',
    (d) => Object.assign(thing(d).properties, { size: { type: 'integer' } }),
  ],
  [
    'a field of an answer',
    'POST /things: answer 200 (application/json).more is new: string',
    (d) => {
      answer(d).properties.more = { type: 'string' }
      answer(d).required.push('more')
    },
  ],
  [
    'a word in a request',
    'POST /things: the body (application/json).colour may be blue, too',
    (d) => Object.assign(thing(d).properties.colour ?? {}, { enum: ['red', 'green', 'blue'] }),
  ],
  [
    'a word in an answer',
    'POST /things: answer 200 (application/json).state may be late, too',
    (d) => Object.assign(answer(d).properties.state ?? {}, { enum: ['done', 'pending', 'late'] }),
  ],
  [
    'a wider bound',
    'POST /things: the body (application/json).id has a higher maxLength: 20, was 10',
    (d) => Object.assign(thing(d).properties.id ?? {}, { maxLength: 20 }),
  ],
  [
    'a wider type of a request',
    'POST /things: the body (application/json).id was string and is string or integer',
    (d) => Object.assign(thing(d).properties.id ?? {}, { type: ['string', 'integer'] }),
  ],
  [
    'an alternative in a pattern',
    'POST /things: the body (application/json).id may match ^\\*$, too',
    (d) => Object.assign(thing(d).properties.id ?? {}, { pattern: '^\\*$|^[a-z]+$' }),
  ],
  [
    'a required field that is now optional',
    'POST /things: the body (application/json).id is no longer required',
    (d) => Object.assign(thing(d), { required: [] }),
  ],
  [
    'other words of explanation',
    undefined,
    (d) => Object.assign(answer(d).properties.either ?? {}, { description: 'new' }),
  ],
  ['an error', 'POST /things: answer 409 is new', (d) => Object.assign(post(d).responses, { 409: {} })],
  ['an error that is gone', 'POST /things: answer 404 is gone', (d) => delete post(d).responses[404]],
])('lets %s pass, and says it', (_, about, change) => {
  const changed = documentOf()
  change(changed)
  expect(changesInOpenApi(documentOf(), changed)).toEqual(about === undefined ? [] : [{ breaking: false, about }])
})
