import { expect, it } from 'vitest'
import { fieldsOf, uncoveredBy } from '#platform/schema-fields.js'

const recordOf = (...fields: unknown[]) => ({ type: 'record', name: 'Thing', fields })
const size = { name: 'size', type: 'string' }
const colour = { name: 'colour', type: ['null', 'string'], default: null }

it('names every field by its path, through arrays, unions and names that are used again', () => {
  const problem = { type: 'record', name: 'Problem', fields: [{ name: 'code', type: 'string' }] }
  const schema = recordOf(
    { name: 'first', type: { type: 'array', items: problem } },
    { name: 'second', type: ['null', 'Problem'], default: null },
    { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' }, doc: 'when' },
  )
  expect(Object.fromEntries(fieldsOf(schema))).toEqual({
    first: { kinds: ['array'], hasDefault: false },
    'first.code': { kinds: ['string'], hasDefault: false },
    second: { kinds: ['null', 'record'], hasDefault: true },
    'second.code': { kinds: ['string'], hasDefault: false },
    at: { kinds: ['long'], hasDefault: false },
  })
})

it('reads a record that holds itself', () => {
  const schema = recordOf({ name: 'next', type: ['null', 'Thing'], default: null })
  expect([...fieldsOf(schema).keys()]).toEqual(['next'])
})

it.each([
  { what: 'a field that came later', known: recordOf(size), written: recordOf(size, colour), uncovered: ['colour'] },
  {
    what: 'a field inside of an array',
    known: recordOf({ name: 'records', type: { type: 'array', items: { ...recordOf(size), name: 'One' } } }),
    written: recordOf({ name: 'records', type: { type: 'array', items: { ...recordOf(size, colour), name: 'One' } } }),
    uncovered: ['records.colour'],
  },
  {
    what: 'a required field that became optional',
    known: recordOf(size),
    written: recordOf({ name: 'size', type: ['null', 'string'], default: null }),
    uncovered: ['size'],
  },
  { what: 'another type', known: recordOf(size), written: recordOf({ ...size, type: 'double' }), uncovered: ['size'] },
  { what: 'no field that went', known: recordOf(size, colour), written: recordOf(size), uncovered: [] },
  { what: 'no comment', known: recordOf(size), written: recordOf({ ...size, doc: 'how large' }), uncovered: [] },
])('finds what a reader would not get: $what', ({ known, written, uncovered }) => {
  expect(uncoveredBy(known, written)).toEqual(uncovered)
})
