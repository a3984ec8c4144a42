import { expect, it } from 'vitest'
import type { BatchResult } from '../../../../services/edge/batches/outcome.js'
import { answerOf, overallStatus } from '../../../../services/edge/requests/answer.js'
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
