import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { Mend } from '#ledger/audit.js'
import { shop } from '#schemas/records/shop.js'
import type { CurrentRecord } from '../../../../services/edge/uploads/if-version.js'
import { createMends } from '../../../../services/edge/uploads/mends.js'
import { sampleOf } from '../../../support/sample.js'
import { createEdge } from '../edge.js'
import { verdictOn } from '../fakes/submit.fake.js'

const log = pino({ level: 'silent' })

/** An edge whose organisations have these records. */
const edgeWith = (current: readonly (CurrentRecord & { id: string })[] = []) => {
  const asked: string[] = []
  const mended: Mend[] = []
  const edge = createEdge({
    onMended: (mend) => void mended.push(mend),
    findCurrent: async (orgId, { type }, ids) => {
      asked.push(`${orgId} ${type} ${ids.length}`)
      return new Map(current.filter(({ id }) => ids.includes(id)).map(({ id, ...one }) => [id, one]))
    },
  })
  return { ...edge, asked, mended }
}
const [one, two] = [sampleOf(shop), sampleOf(shop, { created: '2024-05-31T12:00:00+02:00' })]
const idOf = (record: object): string => String((record as { shop_id: unknown }).shop_id)
const stored = (record: object, version: number) => ({
  id: idOf(record),
  version,
  accepted_at: '2026-01-01T00:00:00.000Z',
  record: { ...record, name: 'stored' },
})
const post = (version: string) => `/v1/data/shops?if_version=${version}`

describe('an upload with if_version', () => {
  it('is taken where what it replaces is what its sender has seen', async () => {
    const { send, submit, asked } = edgeWith([stored(one, 8192)])
    expect((await send('POST', post('8192,none'), { records: [one, two] })).status).toBe(200)
    expect(submit.submitted).toHaveLength(1)
    expect(asked).toEqual(['acme shops 2'])
  })

  it('is noted as a mend once it was accepted, and neither a dry run nor what was not taken', async () => {
    const { send, mended } = edgeWith([stored(one, 8192)])
    await send('POST', `${post('8192')}&dry_run=true`, { records: [one] })
    await send('POST', post('1'), { records: [one] })
    await send('POST', '/v1/data/shops', { records: [one] })
    expect(mended).toEqual([])
    const { body } = await send('POST', post('8192'), { records: [one] })
    expect(mended).toEqual([
      { org: 'acme', keyId: expect.any(String), requestId: body.request_id, type: 'shops', records: 1 },
    ])
  })

  it('is noted in bounds: a program that sends it with every upload does not fill the audit', async () => {
    const written: Mend[] = []
    let now = 0
    const mends = createMends({ write: async (some) => void written.push(...some), now: () => now, log })
    const note = (org: string) => mends.note({ org, keyId: 'k', requestId: 'r', type: 'shops', records: 1 })
    for (let n = 0; n < 3000; n++) note('busy')
    note('other')
    await mends.flush()
    expect([written.length, written.at(-1)?.org]).toEqual([1001, 'other'])
    now = 86_400_000
    note('busy')
    await mends.flush()
    expect(written).toHaveLength(1002)
  })

  it('is not taken where something else is there: the answer shows both', async () => {
    const { send, submit } = edgeWith([stored(two, 16_384)])
    const { status, body } = await send('POST', post('none,8192'), { records: [one, two] })
    expect(status).toBe(409)
    expect(body).toMatchObject({
      message: expect.stringMatching(/1 of 2 records would replace something else.*none was taken/),
      conflicts: [
        {
          index: 1,
          id: idOf(two),
          sent: { shop_id: idOf(two), created: '2024-05-31T10:00:00.000Z' },
          current: { version: 16_384, record: { name: 'stored' } },
        },
      ],
    })
    expect(submit.submitted).toEqual([])
    expect((await send('POST', post('8192,16384'), { records: [one, two] })).body.conflicts).toMatchObject([
      { index: 0, current: null },
    ])
  })

  it('is checked in a dry run too, and not where its records are refused anyway', async () => {
    const { send } = edgeWith([stored(one, 8192)])
    expect((await send('POST', `${post('none')}&dry_run=true`, { records: [one] })).status).toBe(409)
    expect((await send('POST', post('none'), { records: [{ ...one, region: 'Great Britain' }] })).status).toBe(400)
  })

  it('is answered again with its key, though it is itself what is current by then', async () => {
    const current: (CurrentRecord & { id: string })[] = []
    const { send, store, submit } = edgeWith(current)
    const key = { 'idempotency-key': 'once' }
    const first = await send('POST', post('none'), { records: [one] }, key)
    expect(first.status).toBe(200)
    store.verdicts.push(...submit.submitted.map(({ type, batch }) => verdictOn(type, batch)))
    current.push(stored(one, 8192))
    expect((await send('POST', post('none'), { records: [one] }, key)).body).toEqual(first.body)
  })

  it.each([
    ['', /must be a version or none/],
    ['1.5', /must be a version or none/],
    ['none,,none', /must be a version or none/],
    [Array.from({ length: 101 }, () => 'none').join(','), /of 100 records at the most/],
    ['none,none', /names 2 versions for 1 records/],
  ])('is refused where it says %o', async (version, message) => {
    const { status, body } = await edgeWith().send('POST', post(version), { records: [one] })
    expect([status, body.message]).toEqual([400, expect.stringMatching(message)])
  })
})
