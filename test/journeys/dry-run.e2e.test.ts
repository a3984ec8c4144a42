import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, expect, it } from 'vitest'
import { createPool } from '#platform/postgres/postgres.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { sampleOf } from '../support/sample.js'
import { untilQuiet } from '../support/system/groups.js'
import { analyst, newOrganisation, type Organisation, system } from '../support/system/system.js'
import { watchTopics } from '../support/system/topics.js'
import type { UploadAnswer } from '../support/system/uploader.js'

const org = await newOrganisation('dry-run')
const pool = createPool(system.env.POSTGRES_URL, pino({ level: 'silent' }), 1)
afterAll(() => pool.end())

const send = (path: string, records: unknown[], headers: Record<string, string> = {}) =>
  org.uploader.send<UploadAnswer>('POST', path, JSON.stringify({ records }), headers)

/** Everything that an organisation has left in the stores, once all that was sent so far has arrived there. */
const tracesOf = async ({ name }: Organisation) => {
  await untilQuiet(system.env.KAFKA_BROKERS)
  const tables = ['integrity.verdicts', 'integrity.entities', 'edge.requests']
  const postgres = await Promise.all(
    tables.map(async (table) => (await pool.query(`select from ${table} where org_id = $1`, [name])).rowCount),
  )
  const logs = ['offers_log', 'shops_log', 'rejections'].map(
    (table) => `select count() as n from weir.${table} where org_id = {org:String}`,
  )
  const rows = await analyst.query<{ n: string }>(logs.join(' union all '), { org: name })
  return { postgres, clickhouse: rows.reduce((sum, { n }) => sum + Number(n), 0) }
}

it('answers as the upload does afterwards, and leaves no trace', async () => {
  const known = sampleOf(shop)
  await org.uploader.upload('shops', [known])
  const offers: unknown[] = Array.from({ length: 700 }, () => sampleOf(offer, { shop_id: known.shop_id }))
  offers[3] = { offer_id: 'x' }
  offers[600] = sampleOf(offer)
  const cases = [offers, offers.slice(10, 20), [offers[3], offers[600]]]
  const key = { 'idempotency-key': randomUUID() }

  const before = await tracesOf(org)
  expect(before).toEqual({ postgres: [1, 1, expect.any(Number)], clickhouse: 1 })
  const topics = await watchTopics(system.env.KAFKA_BROKERS)
  const tried = []
  for (const records of cases) tried.push(await send('/v1/data/offers?dry_run=true', records, key))
  expect(tried.map(({ status }) => status)).toEqual([207, 200, 400])
  for (const { headers, body } of tried) {
    expect(headers.get('weir-dry-run')).toBe('true')
    expect((await org.uploader.get(`/v1/requests/${body.request_id}`)).status).toBe(404)
  }
  expect((await topics.since()).filter((seen) => seen.key.startsWith(org.name))).toEqual([])
  expect(await tracesOf(org)).toEqual(before)

  for (const [i, records] of cases.entries()) {
    const real = await send('/v1/data/offers', records)
    expect([real.status, withoutIds(real.body)]).toEqual([tried[i]?.status, withoutIds(tried[i]?.body)])
  }
  // The key was not used up; from now on it is.
  const [first] = tried
  const keyed = await send('/v1/data/offers', offers, key)
  expect([keyed.status, keyed.body]).toEqual([207, first?.body])
  expect((await send('/v1/data/offers?dry_run=true', offers, key)).body).toEqual(keyed.body)
  expect((await send('/v1/data/offers?dry_run=true', [offers[0]], key)).status).toBe(409)
})

it('is not what somebody gets who mistypes it', async () => {
  // Of its own: nothing that was uploaded above can still be on its way for it.
  const mistyper = await newOrganisation('dry-run')
  const body = JSON.stringify({ records: [sampleOf(shop)] })
  const answer = await mistyper.uploader.send('POST', '/v1/data/shops?dryrun=true', body)
  expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('did you mean dry_run?') } })
  expect(await tracesOf(mistyper)).toEqual({ postgres: [0, 0, 0], clickhouse: 0 })
})

/** Only the request's and its batches' ids may differ. */
const withoutIds = (body: UploadAnswer | undefined): string =>
  [body?.request_id, ...(body?.batches ?? []).map(({ data }) => data.batch_id)].reduce<string>(
    (text, id, i) => text.replaceAll(String(id), `id ${i}`),
    JSON.stringify(body),
  )
