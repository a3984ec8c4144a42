import { describe, expect, it } from 'vitest'
import { createEventsOf } from '#schemas/derive/decided-events.js'
import { recordsIn } from '#schemas/events.js'
import { interaction } from '#schemas/records/interaction.js'
import { decidedRequestsOf } from '../../../../services/integrity/decide-fetch.js'
import { sampleOf } from '../../../support/sample.js'
import { createEdge, startOfTest } from '../edge.js'
import { verdictOn } from '../fakes/submit.fake.js'

const given = (over: Record<string, unknown> = {}) => sampleOf(interaction, { source: null, ...over })
const unknownItem = { field: 'item_id', code: 'unknown_reference' as const, message: 'item_id x is not a known record' }
const keyed = (text: string) => ({ 'idempotency-key': text })
const key = keyed('once')

describe('recording', () => {
  it('answers with the interaction as given, its id and its time', async () => {
    const { send, submit } = createEdge()
    const sent = given()
    const { status, body } = await send('POST', '/user-interactions', sent)
    expect(status).toBe(201)
    expect(body).toEqual({ ...sent, interaction_id: expect.any(String), recorded_at: '2026-01-01T00:00:00.000Z' })
    expect(submit.submitted).toMatchObject([
      {
        type: 'interactions',
        batch: {
          batch: 1,
          batches: 1,
          first_index: 0,
          records: [
            {
              index: 0,
              keyed_sha256: null,
              interaction_id: body.interaction_id,
              recorded_at: startOfTest,
              source: null,
            },
          ],
        },
      },
    ])
  })

  it('gathers what comes at once, each organisation for itself', async () => {
    const { send, submit } = createEdge()
    submit.problemsOf = ({ user_id }) => (user_id === 'user 3' ? [unknownItem] : [])
    const answers = await Promise.all([
      ...Array.from({ length: 8 }, (_, i) => send('POST', '/user-interactions', given({ user_id: `user ${i}` }))),
      send('POST', '/user-interactions', given(), { authorization: 'Bearer other-key' }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 400, 201, 201, 201, 201, 201])
    expect(answers.map(({ body }) => body.user_id).slice(4, 6)).toEqual(['user 4', 'user 5'])
    expect(answers[3]?.body).toMatchObject({
      error: 'Bad Request',
      problems: [unknownItem],
      request_id: expect.any(String),
    })
    const orgs = submit.submitted.map(({ batch }) => batch.org_id)
    expect(new Set(orgs)).toEqual(new Set(['acme', 'other']))
    expect(orgs.length).toBeLessThan(9)
  })

  it('cuts at the limits that hold for uploads', async () => {
    const sends: (() => void)[] = []
    const { send, submit } = createEdge({
      batchLimits: { records: 3, bytes: 524_288 },
      sendLater: (sendNow) => void sends.push(sendNow),
    })
    const sizes = () => submit.submitted.map(({ batch }) => batch.records.length)
    const answers = Array.from({ length: 7 }, () => send('POST', '/user-interactions', given()))
    // Two batches are full, and sent without waiting; the seventh interaction waits for others.
    await expect.poll(() => [sizes(), sends.length]).toEqual([[3, 3], 3])
    sends.at(-1)?.()
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(Array(7).fill(201))
    expect(sizes()).toEqual([3, 3, 1])
  })

  it('answers what is not valid at once, and lets it travel to the rejections', async () => {
    const { send, submit } = createEdge()
    const { status, body } = await send('POST', '/user-interactions', given({ platfrom: 'WEB' }))
    expect(status).toBe(400)
    expect(body.problems).toMatchObject([{ field: 'platfrom', code: 'unknown_field' }])
    await send('POST', '/user-interactions', given())
    const refusals = submit.submitted.flatMap(({ batch }) => batch.refusals)
    expect(refusals).toMatchObject([{ problems: body.problems, record: expect.stringContaining('platfrom') }])
    expect((await send('POST', '/user-interactions', '[]')).body.problems).toMatchObject([
      { field: null, code: 'wrong_type' },
    ])
  })

  it('is known by one request id: in the answer, in its events, and where requests are looked up', async () => {
    const { send, submit, store, lines } = createEdge()
    submit.problemsOf = ({ user_id }) => (user_id === 'ghost' ? [unknownItem] : [])
    const bodies = [given(), given({ user_id: 'ghost' }), given({ platfrom: 'WEB' })]
    // Each without a key, and with one.
    const sent = [...bodies.map((one) => [one, {}] as const), ...bodies.map((one, i) => [one, keyed(`k${i}`)] as const)]
    const answers = await Promise.all(sent.map(([one, headers]) => send('POST', '/user-interactions', one, headers)))
    expect(answers.map(({ status }) => status)).toEqual([201, 400, 400, 201, 400, 400])
    const ids = answers.map(({ headers }) => String(headers['x-request-id']))
    expect(answers[1]?.body.request_id).toBe(ids[1])
    expect(answers[2]?.body.request_id).toBe(ids[2])
    expect(lines.map(({ request_id }) => request_id)).toEqual(expect.arrayContaining(ids))

    // What was not valid is answered at once, and on its way to the log after that.
    await expect.poll(() => submit.submitted.reduce((sum, { batch }) => sum + recordsIn(batch), 0)).toBe(ids.length)
    const { accepted, rejected } = createEventsOf(interaction)
    const events = submit.submitted.flatMap(({ type, batch }) => {
      const verdict = verdictOn(type, batch, submit.problemsOf)
      store.verdicts.push(verdict)
      store.keyedRequests.push(...decidedRequestsOf(batch, { ...verdict, repeated: [] }))
      const placed = { ...verdict, repeated: [], submitted_offset: 1 }
      return [...accepted(batch, placed), ...rejected(batch, placed)].map(({ request_id }) => request_id)
    })
    expect(events.sort()).toEqual([...ids].sort())

    const found = await Promise.all(ids.map((id) => send('GET', `/v1/requests/${id}`)))
    expect(found.map(({ body }) => [body.request_id, body.type, body.batches.length, body.batches[0].status])).toEqual(
      ids.map((id, i) => [id, 'interactions', 1, answers[i]?.status === 201 ? 200 : 400]),
    )
    for (const i of [1, 2, 4, 5])
      expect(found[i]?.body.batches[0].data.errors).toMatchObject([{ index: 0, problems: answers[i]?.body.problems }])

    const stranger = { authorization: 'Bearer other-key' }
    for (const i of [1, 4]) expect((await send('GET', `/v1/requests/${ids[i]}`, undefined, stranger)).status).toBe(404)
    expect((await send('GET', `/v1/requests/${ids[1]?.slice(0, 32)}0fff`)).status).toBe(404)
  })

  it('says so when the outcome is unknown', async () => {
    const { send, submit } = createEdge()
    submit.outcome = { unknown: 'no verdict yet' }
    const { status, body } = await send('POST', '/user-interactions', given())
    expect(status).toBe(500)
    expect(body.message).toBe('outcome unknown; retrying with the same Idempotency-Key is safe')
  })

  it('takes an interaction once for each Idempotency-Key', async () => {
    const { send, submit, store } = createEdge()
    const sent = given()
    const first = await send('POST', '/user-interactions', sent, key)
    const record = submit.submitted[0]?.batch.records[0]
    expect(record?.keyed_sha256).toBeInstanceOf(Buffer)
    const bodySha256 = record?.keyed_sha256 as Buffer
    store.keyed.set(`acme/${first.body.interaction_id}`, { bodySha256, recordedAt: startOfTest - 1000 })

    const again = await send('POST', '/user-interactions', sent, key)
    expect(again.body).toEqual({ ...first.body, recorded_at: '2025-12-31T23:59:59.000Z' })
    expect(again.headers['x-request-id']).toBe(first.headers['x-request-id'])
    const conflict = await send('POST', '/user-interactions', given({ city: 'Bath' }), key)
    expect([conflict.status, conflict.body.request_id]).toEqual([409, first.headers['x-request-id']])
    expect(submit.submitted).toHaveLength(1)
  })

  it('is a conflict when integrity finds that the key was used meanwhile', async () => {
    const { send, submit } = createEdge()
    submit.problemsOf = () => [{ field: null, code: 'idempotency_conflict', message: 'used with another body' }]
    expect((await send('POST', '/user-interactions', given(), key)).status).toBe(409)
  })

  it('needs no key where it was opened for one organisation; a wrong key stays wrong, and reading needs one', async () => {
    const { app, send, submit } = createEdge({ openOrg: 'open' })
    const keyless = await app.inject({ method: 'POST', url: '/user-interactions', payload: given() })
    expect(keyless.statusCode).toBe(201)
    expect(submit.submitted.map(({ batch }) => batch.org_id)).toEqual(['open'])
    const wrong = { authorization: 'Bearer nonsense' }
    expect((await send('POST', '/user-interactions', given(), wrong)).status).toBe(401)
    expect((await app.inject({ method: 'GET', url: '/user-interactions' })).statusCode).toBe(401)
    expect((await app.inject({ method: 'POST', url: '/v1/data/shops', payload: {} })).statusCode).toBe(401)
  })
})
