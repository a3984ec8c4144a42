import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { course } from '#schemas/records/course.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { analyst, newOrganisation } from '../support/system/system.js'

const org = await newOrganisation('answers')
const shops = (count: number) => Array.from({ length: count }, () => sampleOf(shop))

describe('an upload', () => {
  it('of 5000 records is cut into batches numbered from 1, each with an id of its own', async () => {
    const { status, body } = await org.uploader.upload('shops', shops(5000))
    expect(status).toBe(200)
    expect(body.batches.map(({ batch }) => batch)).toEqual(Array.from({ length: 10 }, (_, i) => i + 1))
    expect(new Set(body.batches.map(({ data }) => data.batch_id)).size).toBe(10)
    expect(new Set(body.batches.map(({ data }) => data.request_id))).toEqual(new Set([body.request_id]))
  })

  it('of 5001 records is refused whole', async () => {
    const { status, body } = await org.uploader.send<{ error: string; message: string }>(
      'POST',
      '/v1/data/shops',
      JSON.stringify({ records: shops(5001) }),
    )
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'Bad Request', request_id: expect.any(String) })
    expect(body.message).toMatch(/5000.*5001|5001.*5000/)
  })

  it('of courses takes 1000, not 1001', async () => {
    const courses = Array.from({ length: 1001 }, () => sampleOf(course))
    expect((await org.uploader.upload('courses', courses.slice(1))).status).toBe(200)
    expect((await org.uploader.upload('courses', courses)).status).toBe(400)
  })

  it('is 207 when some batches hold and others do not, with indexes of the whole request', async () => {
    const records: unknown[] = shops(1200)
    records[700] = { shop_id: 'x' }
    const { status, body } = await org.uploader.upload('shops', records)
    expect(status).toBe(207)
    expect(body.batches.map((batch) => batch.status)).toEqual([200, 207, 200])
    expect(body.batches[1]?.data.errors).toMatchObject([{ index: 700, id: 'x' }])
    expect(body.batches[1]?.data.error).toEqual(expect.any(String))
  })

  it('is 400 when nothing of it holds', async () => {
    const { status, body } = await org.uploader.upload('offers', [sampleOf(offer), sampleOf(offer)])
    expect(status).toBe(400)
    expect(body.batches).toMatchObject([{ status: 400, data: { status: 'error' } }])
  })

  it('may come gzipped', async () => {
    expect((await org.uploader.uploadGzipped('shops', shops(3))).status).toBe(200)
  })

  it('can be looked up by its request id, by its own organisation only', async () => {
    const records: unknown[] = [...shops(2), {}]
    const uploaded = await org.uploader.upload('shops', records)
    const found = await org.uploader.get(`/v1/requests/${uploaded.body.request_id}`)
    expect(found.body).toEqual(uploaded.body)
    const stranger = await newOrganisation('stranger')
    expect((await stranger.uploader.get(`/v1/requests/${uploaded.body.request_id}`)).status).toBe(404)
  })

  it('with an Idempotency-Key gives the same answer again; with another body it is a conflict', async () => {
    const key = { 'idempotency-key': randomUUID() }
    const records = [...shops(2), { shop_id: 'no' }]
    const first = await org.uploader.upload('shops', records, key)
    const second = await org.uploader.upload('shops', records, key)
    expect(second).toMatchObject({ status: first.status, body: first.body })
    expect((await org.uploader.upload('shops', shops(1), key)).status).toBe(409)
  })

  it('with one Idempotency-Key and two bodies at the same moment takes all of one and nothing of the other', async () => {
    const { name, uploader } = await newOrganisation('race')
    const race = async (counts: number[]) => {
      const key = { 'idempotency-key': randomUUID() }
      const bodies = counts.map(shops)
      // On a busy machine the edge may answer 503, "come back": nothing of that body was taken.
      const settled = async (records: object[]): ReturnType<typeof uploader.upload> => {
        const answer = await uploader.upload('shops', records, key)
        if (answer.status !== 503) return answer
        await wait(1000 * Number(answer.headers.get('retry-after')))
        return settled(records)
      }
      const answers = await Promise.all(bodies.map(settled))
      return answers.map(({ status }, i) => ({ status, key, records: bodies[i] ?? [] }))
    }
    const races = await Promise.all(
      Array.from({ length: 15 }, (_, n) =>
        race(
          [
            [1, 2],
            [700, 1200],
            [3, 2, 501],
          ][n % 3] ?? [],
        ),
      ),
    )
    for (const sent of races)
      expect(sent.map(({ status }) => status).sort()).toEqual([200, ...sent.slice(1).map(() => 409)])

    const taken = races.flat().reduce((sum, { status, records }) => sum + (status === 200 ? records.length : 0), 0)
    const found = async () => {
      const [row] = await analyst.query<{ n: number }>(
        `select toUInt32(count()) as n from weir.shops_log final where org_id = '${name}'`,
      )
      return row?.n ?? 0
    }
    await eventually(async () => expect(await found()).toBeGreaterThanOrEqual(taken), 30_000)
    // Whoever won gets its answer again; whoever lost is refused again.
    for (const { status, key, records } of races.flat())
      expect((await uploader.upload('shops', records, key)).status).toBe(status)
    expect(await found()).toBe(taken)
  })
})
