import { describe, expect, it } from 'vitest'
import { type EdgeAnswer, readInteraction, readUpload } from '../../../../services/operator/rejected/edge.js'

const answer = (status: number, body: unknown, retryAfter: string | null = null): EdgeAnswer => ({
  status,
  requestId: 'r',
  retryAfter,
  body,
})
const batch = (status: number, ...indexes: number[]) => ({
  status,
  data: { errors: indexes.map((index) => ({ index })) },
})

describe('the answer to an upload', () => {
  it('tells which records were refused again, in all batches', () => {
    expect(readUpload(answer(200, { batches: [batch(200)] }))).toEqual({ requestId: 'r', refused: [] })
    const mixed = { batches: [batch(207, 3), batch(200), batch(400, 8, 9)] }
    expect(readUpload(answer(207, mixed))).toEqual({ requestId: 'r', refused: [3, 8, 9] })
  })

  it('is asked for again while one batch has no verdict', () =>
    expect(readUpload(answer(207, { batches: [batch(200), batch(500)] }))).toHaveProperty('again'))

  it.each([429, 503])('with %i is asked for again when the edge says so', (status) =>
    expect(readUpload(answer(status, { message: 'later' }, '7'))).toEqual({ again: 'later', afterMs: 7000 }),
  )

  it.each([408, 500, 502, 504])('with %i is asked for again', (status) =>
    expect(readUpload(answer(status, null))).toEqual({ again: `status ${status}` }),
  )

  it.each([400, 413])('with %i for the whole request will never be another, so nothing of it was taken', (status) =>
    expect(readUpload(answer(status, { message: 'no' }))).toEqual({ notTaken: 'no', isAboutTheBody: true }),
  )

  it.each([401, 403, 404, 409])('with %i is no use now, but leaves open whether it was taken before', (status) =>
    expect(readUpload(answer(status, { message: 'no' }))).toEqual({ notTaken: 'no', isAboutTheBody: false }),
  )
})

describe('the answer to an interaction', () => {
  it('tells whether it was taken or refused again', () => {
    expect(readInteraction(answer(201, {}))).toEqual({ requestId: 'r', refused: [] })
    expect(readInteraction(answer(400, { problems: [] }))).toEqual({ requestId: 'r', refused: [0] })
  })

  it('is asked for again where the outcome is unknown, and given up where it is not about the interaction', () => {
    expect(readInteraction(answer(500, { message: 'unknown' }))).toEqual({ again: 'unknown' })
    expect(readInteraction(answer(400, { message: 'no JSON' }))).toMatchObject({ notTaken: 'no JSON' })
  })
})
