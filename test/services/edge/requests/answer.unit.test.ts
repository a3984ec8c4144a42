import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { createValidator, type Validate } from '#schemas/derive/validator.js'
import { uploadExample } from '#schemas/endpoints/uploads.js'
import type { Problem } from '#schemas/problem.js'
import type { BatchResult } from '../../../../services/edge/batches/outcome.js'
import { type Answer, answerOf, overallStatus } from '../../../../services/edge/requests/answer.js'
import { refusalOf } from '../../../support/batch.js'
import { verdictOn } from '../fakes/submit.fake.js'

const batch = {
  org_id: 'acme',
  request_id: 'r',
  batch_id: 'b',
  batch: 2,
  batches: 2,
  first_index: 500,
  submitted_at: 0,
  body_sha256: Buffer.alloc(32),
  records: [],
  refusals: [refusalOf(3, 'x')],
}
const verdict = { ...verdictOn('shops', batch), accepted: 9 }
const dataOf = (outcome: BatchResult['outcome']) =>
  answerOf({ requestId: 'r', type: 'shops' }, [{ batch: 2, batchId: 'b', outcome }]).batches[0]

const firstProblemOf = (result: ReturnType<Validate>) =>
  'problems' in result ? (result.problems[0]?.message ?? '') : ''

it('maps an outcome to a status, a word and a sentence', () => {
  expect(dataOf({ verdict: { ...verdict, refused: [] } })).toMatchObject({
    status: 200,
    data: { status: 'success', message: '9 records accepted', error: null },
  })
  expect(dataOf({ verdict })).toMatchObject({
    status: 207,
    data: {
      status: 'partial',
      message: '9 of 10 records accepted',
      error: '1 of 10 records refused; the first is records[503]: name is required',
      errors: [{ index: 503, id: 'x' }],
    },
  })
  expect(dataOf({ verdict: { ...verdict, accepted: 0 } })).toMatchObject({ status: 400, data: { status: 'error' } })
  expect(dataOf({ unknown: 'not published' })).toMatchObject({ status: 500, data: { status: 'error' } })
  expect(dataOf('pending')).toMatchObject({ status: 202, data: { status: 'pending', error: null } })
})

it('gives the whole the status that its batches agree on', () => {
  const overall = (...statuses: (200 | 202 | 207 | 400 | 500)[]) =>
    overallStatus(statuses.map((status) => ({ status })))
  expect([overall(200, 200), overall(400), overall(500, 500), overall(207)]).toEqual([200, 400, 500, 207])
  expect([overall(200, 400), overall(200, 500), overall(400, 500)]).toEqual([207, 207, 207])
  expect([overall(202, 202), overall(200, 202), overall(400, 202), overall(202, 500)]).toEqual([202, 202, 202, 207])
})

it("answers as the API reference's examples show it, for each status", () => {
  for (const type of catalogue.uploads.values()) {
    const problems: Problem[] = [
      { field: type.id, code: 'missing_field', message: firstProblemOf(createValidator(type)({})) },
    ]
    const refused = (accepted: number) => ({
      verdict: { ...verdict, first_index: 0, accepted, refused: [{ index: accepted, id: null, problems }] },
    })
    const outcomes: [200 | 202 | 207 | 400 | 500, BatchResult['outcome']][] = [
      [200, { verdict: { ...verdict, accepted: 1, refused: [] } }],
      [202, 'pending'],
      [207, refused(1)],
      [400, refused(0)],
      [500, { unknown: 'no verdict yet' }],
    ]
    for (const [status, outcome] of outcomes) {
      const example = uploadExample(type, status) as Answer
      const batchId = example.batches[0]?.data.batch_id ?? null
      const request = { requestId: example.request_id, type: type.type }
      expect(answerOf(request, [{ batch: 1, batchId, outcome }])).toEqual(example)
      expect(overallStatus(example.batches)).toBe(status)
    }
  }
})
