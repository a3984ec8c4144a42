import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createReadJson, createReadQuery } from '#http/endpoint.js'
import type { RequestError } from '#http/request-error.js'
import { readPlace, toDays, toFilter, toRetry, writePlace } from '#query/rejections/question.js'
import { catalogue } from '#schemas/catalogue.js'
import { listRejections, readQuality, retryRejections, summariseRejections } from '#schemas/endpoints/rejections.js'
import { namesIn } from '#schemas/endpoints/values.js'

const names = namesIn(catalogue)
type ReadAsked = { value: object } | { error: RequestError }
const then = <Asked>(read: ReadAsked, to: (asked: Asked) => object): object =>
  'error' in read ? { problems: read.error.problems } : to(read.value as Asked)
const readPage = createReadQuery(listRejections, names, { cursor: readPlace })
const readSummary = createReadQuery(summariseRejections, names, {})
const readDays = createReadQuery(readQuality, names, {})
const readRetry = createReadJson(retryRejections.body.schema, names)
/** As the routes ask. */
const ask = {
  page: (given: object) =>
    then<{ limit: number }>(readPage(given), ({ limit, ...filter }) => ({ filter: toFilter(filter), limit })),
  summary: (given: object) => then<object>(readSummary(given), (filter) => ({ filter: toFilter(filter) })),
  days: (given: object, now: number) => then<object>(readDays(given), (days) => toDays(days, now)),
  retry: (json: unknown) => then<Parameters<typeof toRetry>[0]>(readRetry(json), (body) => toRetry(body, catalogue)),
}
const messageOf = (read: object): string | undefined =>
  'problems' in read ? (read.problems as { message: string }[])[0]?.message : undefined

describe('what is asked about rejections', () => {
  it('is read with its filters, and without them means everything', () => {
    expect(ask.page({})).toEqual({ filter: {}, limit: 100 })
    const request = randomUUID()
    const given = { type: 'offers', code: 'bad_format', field: 'name', request_id: request.toUpperCase(), limit: '7' }
    expect(ask.page({ ...given, since: '2026-01-31T12:00:00Z', until: '1769860800' })).toEqual({
      filter: {
        type: 'offers',
        code: 'bad_format',
        field: 'name',
        request,
        since: new Date('2026-01-31T12:00:00Z'),
        until: new Date('2026-01-31T12:00:00Z'),
      },
      limit: 7,
    })
    expect(ask.summary({ type: 'interactions' })).toEqual({ filter: { type: 'interactions' } })
  })

  it.each([
    [{ typ: 'offers' }, 'there is no query parameter "typ"; did you mean type?'],
    [{ type: 'offer' }, 'type has no such value; did you mean offers?'],
    [{ code: 'unknown_referense' }, 'code has no such value; did you mean unknown_reference?'],
    [{ code: 'x' }, 'code must be one of missing_field'],
    [{ type: ['offers', 'shops'] }, 'type must be one text'],
    [{ since: 'yesterday' }, 'since must be'],
    [{ request_id: 'abc' }, 'request_id must be the request_id or a batch_id of an answer'],
    [{ field: '' }, 'field must be the name of a field'],
    [{ limit: '0' }, 'limit must be an integer from 1 to 1000'],
    [{ limit: '1001' }, 'limit must be an integer from 1 to 1000'],
    [{ cursor: 'abc' }, 'cursor must be the next_cursor of an answer'],
  ])('%j is refused: %s', (given, message) => expect(messageOf(ask.page(given))).toContain(message))

  it('about a summary knows no pages', () =>
    expect(messageOf(ask.summary({ limit: '5' }))).toContain('there is no query parameter "limit"'))
})

describe('the days of the quality', () => {
  const now = Date.UTC(2026, 2, 31, 23, 59)

  it('are the last thirty where none are named', () => {
    expect(ask.days({}, now)).toEqual({ from: '2026-03-02', to: '2026-03-31' })
    expect(ask.days({ to: '2026-01-30' }, now)).toEqual({ from: '2026-01-01', to: '2026-01-30' })
    expect(ask.days({ from: '2026-03-31' }, now)).toEqual({ from: '2026-03-31', to: '2026-03-31' })
  })

  it.each([
    [{ from: '2026-02-30' }, 'from must be'],
    [{ from: '2026-02-02', to: '2026-02-01' }, 'from must not be after to'],
    [{ from: '2026-01-01', to: '2026-12-31' }, 'from and to may be 92 days at the most'],
    [{ since: '2026-01-01' }, 'there is no query parameter "since"; known are from, to'],
  ])('%j are refused: %s', (given, message) => expect(messageOf(ask.days(given, now))).toContain(message))
})

describe('the body of a retry', () => {
  it('says which, how many, and whether in earnest', () => {
    expect(ask.retry({ filter: { type: 'offers', code: null } })).toEqual({
      filter: { type: 'offers' },
      dryRun: false,
      limit: 1000,
    })
    expect(ask.retry({ filter: { since: 1769860800 } })).toMatchObject({
      filter: { since: new Date('2026-01-31T12:00:00Z') },
    })
    const change = { field: 'region', from: null, to: 'GB' }
    expect(ask.retry({ filter: { type: 'shops' }, change })).toMatchObject({
      filter: { type: 'shops', within: [{ values: { value_field: 'region', value: '{"value":null}' } }] },
      change: { field: 'region', to: 'GB' },
    })
    expect(ask.retry({ filter: { type: 'shops' }, change: { field: 'colour' } })).toMatchObject({
      filter: { type: 'shops' },
      change: { field: 'colour' },
    })
    expect(ask.retry({ filter: { code: 'bad_format' }, dry_run: true, limit: 5 })).toMatchObject({
      dryRun: true,
      limit: 5,
    })
  })

  it.each([
    [[], 'the body must be a JSON object'],
    [{}, '"filter" is missing'],
    [{ filter: {} }, '"filter" is empty'],
    [{ filter: { type: null } }, '"filter" is empty'],
    [{ filter: { type: 'offers' }, dryrun: true }, 'there is no field "dryrun"; did you mean dry_run?'],
    [{ filter: { typ: 'offers' } }, 'there is no filter "typ"; did you mean type?'],
    [{ filter: { type: 7 } }, 'type must be one text'],
    [{ filter: { type: 'offers' }, dry_run: 'true' }, '"dry_run" must be true or false'],
    [{ filter: { type: 'offers' }, limit: 0 }, '"limit" must be a whole number from 1 to 10000'],
    [{ filter: { type: 'offers' }, limit: 10_001 }, '"limit" must be a whole number from 1 to 10000'],
    [{ filter: { code: 'bad_format' }, change: { field: 'name', to: 'x' } }, '"change" needs a type in the filter'],
    [{ filter: { type: 'shops' }, change: { field: 'shop_id', to: 'x' } }, 'shop_id cannot be changed'],
    [{ filter: { type: 'shops' }, change: { to: 'x' } }, 'field must be the name of a field'],
    [{ filter: { type: 'shops' }, change: 'x' }, '"change" must say what is changed'],
    [{ filter: { type: 'shops' }, change: { field: 'name', to: 'x'.repeat(10_000) } }, '10000 characters at the most'],
  ])('%j is refused: %s', (body, message) => expect(messageOf(ask.retry(body))).toContain(message))
})

describe('a cursor', () => {
  const place = fc.record({
    rejectedAt: fc.date({ min: new Date(0), max: new Date('2090-01-01'), noInvalidDate: true }),
    batchId: fc.uuid(),
    index: fc.nat(2 ** 31),
  })
  it('is read as it was written', () =>
    fc.assert(fc.property(place, (given) => void expect(readPlace(writePlace(given))).toEqual(given))))

  it('that we did not write is none', () => {
    fc.assert(fc.property(fc.string(), (text) => void expect(readPlace(text)).toBeUndefined()))
    const other = (value: unknown) => readPlace(Buffer.from(JSON.stringify(value)).toString('base64url'))
    const id = randomUUID()
    for (const value of [
      [1, id],
      [1, id, -1],
      ['1', id, 1],
      [1, 'x', 1],
      [9e15, id, 1],
      [1, id, 2 ** 32],
      [1, id, 1, 1],
    ])
      expect(other(value)).toBeUndefined()
  })
})
