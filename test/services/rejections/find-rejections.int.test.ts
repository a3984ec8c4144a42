import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rejectionName } from '#ledger/retries/claims.js'
import { createClickHouse } from '#platform/clickhouse.js'
import { countByCode, countByType, findCandidates, findRecords, findRejections } from '#rejections/find-rejections.js'
import { offer } from '#schemas/records/offer.js'
import { makeTables } from '../../support/make-tables.js'
import { sharedParts } from '../../support/shared-parts.js'

const clickhouse = createClickHouse(sharedParts.CLICKHOUSE_URL)
const org = `org-${randomUUID()}`
const request = randomUUID()
const batch = randomUUID()
const overtaken = randomUUID()
const older = randomUUID()
const nobody = '00000000-0000-0000-0000-000000000000'

/** Rejected offers, as the sink writes them; the later one came a second after the one before it. */
const rejected = [
  { index: 2, version: 8194, id: overtaken.toUpperCase(), record: '{"name":"a, b","tags":[1,2]}' },
  { index: 1, version: 8193, id: older, record: '{"name":"x"}' },
  { index: 4, version: 8196, id: 'no id at all', record: '{"offer_id":"no id at all"}' },
  { index: 5, version: 8197, id: null, record: '7' },
]
beforeAll(async () => {
  await makeTables(clickhouse)
  for (const { index, version, id, record } of rejected) {
    const codes = index === 1 ? ['bad_format', 'unknown_reference', 'bad_format'] : ['unknown_reference']
    // Twice, as after a restart of the sink.
    for (const _ of [1, 2]) {
      await clickhouse.command(`
        insert into weir.rejections_log values ('${org}', '${request}', '${batch}', '2026-03-31 12:00:00.${index}00', ${version},
          'offers', ${index}, ${id === null ? 'null' : `'${id}'`},
          [${codes.map((code) => `(null, '${code}', 'no')`).join(', ')}], '${record}', ${index === 5})`)
    }
  }
  const accept = (id: string, version: number, orgId = org) =>
    clickhouse.command(`
      insert into weir.offers_log (org_id, request_id, batch_id, accepted_at, version, offer_id, shop_id, is_deleted)
      values ('${orgId}', '${request}', '${batch}', now64(3), ${version}, '${id}', '${nobody}', true)`)
  await accept(overtaken, 9000)
  await accept(older, 8192)
  await accept(older, 9000, `${org}-2`)
  await accept(nobody, 9000)
})
afterAll(() => clickhouse.close())

describe('rejections in ClickHouse', () => {
  it('are found once each, the newest first, with everything about them', async () => {
    const found = await findRejections(clickhouse, { org }, 3)
    expect(found.map(({ index }) => index)).toEqual([5, 4, 2])
    expect(found[0]).toEqual({
      rejectedAt: new Date('2026-03-31T12:00:00.500Z'),
      org,
      type: 'offers',
      requestId: request,
      batchId: batch,
      index: 5,
      id: null,
      version: 8197,
      problems: [{ field: null, code: 'unknown_reference', message: 'no' }],
      record: '7',
      truncated: true,
    })
    expect(await findRejections(clickhouse, { request: batch, index: 4 }, 9)).toHaveLength(1)
    const since = new Date('2026-03-31T12:00:00.200Z')
    const until = new Date('2026-03-31T12:00:00.400Z')
    expect((await findRejections(clickhouse, { org, since, until }, 9)).map(({ index }) => index)).toEqual([2])
  })

  it('are counted by code, one with a code twice once', async () => {
    expect(await countByCode(clickhouse, { org })).toEqual({
      total: 4,
      byCode: { unknown_reference: 4, bad_format: 1 },
    })
    expect(await countByType(clickhouse, { org, code: 'bad_format' })).toEqual(new Map([['offers', 1]]))
  })

  it('are superseded by what came later under their id, deleted or not, and by nothing else', async () => {
    const candidates = await findCandidates(clickhouse, offer, { org })
    // In the order of the submitted log, so that the last write wins again.
    expect(candidates.map(({ index, superseded, truncated }) => [index, superseded, truncated])).toEqual([
      [1, false, false],
      [2, true, false],
      [4, false, false],
      [5, false, true],
    ])
    expect(candidates[1]).toMatchObject({ org, type: 'offers', batchId: batch, bytes: 28, values: 6 })
  })

  it('give back their records as they were kept, and only those asked for', async () => {
    const wanted = (await findCandidates(clickhouse, offer, { org })).slice(0, 2)
    const records = await findRecords(clickhouse, org, wanted)
    expect([...records]).toEqual(
      expect.arrayContaining([
        [rejectionName({ batchId: batch, index: 1 }), '{"name":"x"}'],
        [rejectionName({ batchId: batch, index: 2 }), '{"name":"a, b","tags":[1,2]}'],
      ]),
    )
    expect(records.size).toBe(2)
  })
})
