import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { MissingRecord, Wait } from '#ledger/waiting/look-up.js'
import { catalogue } from '#schemas/catalogue.js'
import { readWaitFilter } from '../../../../services/operator/waiting/filter.js'
import { toMissingTable } from '../../../../services/operator/waiting/list.js'
import { toWaitText } from '../../../../services/operator/waiting/show.js'

const now = new Date('2026-01-31T12:00:00Z')
const hours = (n: number): Date => new Date(now.getTime() + n * 3_600_000)

describe('the list of missing records', () => {
  const missing = (over: Partial<MissingRecord> = {}): MissingRecord => ({
    ...{ orgId: 'acme', type: 'shops', id: randomUUID(), waiting: 12_345, oldest: hours(-3), firstUntil: hours(21) },
    ...over,
  })
  const rows = [missing(), missing({ orgId: 'a'.repeat(63), type: 'student-favourites' })]

  it.each([60, 80, 120, 200])('fits %i columns, and names each record whole, as --missing takes it', (width) => {
    const table = toMissingTable(rows, width, now)
    expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(width)
    for (const { type, id } of rows) expect(table).toContain(`${type}/${id}`)
  })

  it('says how many wait, for how long, and when the first of them is refused', () =>
    expect(toMissingTable([missing()], 120, now)).toMatch(/12345 +acme +3 h ago +in 21 h/))
})

it('shows a record that waits with everything it waits for, and one that waited with what became of it', () => {
  const [id, shop, branch, requestId, batchId] = Array.from({ length: 5 }, () => randomUUID())
  const wait: Wait = {
    ...{ orgId: 'acme', type: 'offers', id: id ?? '', requestId: requestId ?? '', batchId: batchId ?? '' },
    ...{ place: 3, index: 503, state: 'waiting', since: hours(-3), until: hours(21), changedAt: hours(-3) },
    missing: [
      { field: 'shop_id', type: 'shops', id: shop ?? '' },
      { field: 'branch_id', type: 'branches', id: branch ?? '' },
    ],
    ...{ problems: null, acceptedVersion: null },
  }
  expect(toWaitText(wait, now)).toBe(`offers/${id} of acme
  waits since 2026-01-31T09:00:00.000Z (3 h ago)
  refused at 2026-02-01T09:00:00.000Z (in 21 h), if still missing
  from records[503] of request ${requestId}, batch ${batchId}
  waits for
    shops/${shop} (shop_id)
    branches/${branch} (branch_id)`)
  const ended = toWaitText({ ...wait, state: 'superseded', changedAt: hours(-2) }, now)
  expect(ended).toContain('waited since 2026-01-31T09:00:00.000Z (3 h ago)\n  superseded at 2026-01-31T10:00:00.000Z')
})

describe('which records are meant', () => {
  const id = randomUUID()
  const read = (given: Parameters<typeof readWaitFilter>[0]) => readWaitFilter(given, catalogue)

  it('is read from a record, from what it waits for, or from both', () => {
    expect(read({})).toEqual({ orgId: undefined, type: undefined, id: undefined, missing: undefined })
    expect(read({ record: `offers/${id.toUpperCase()}`, org: 'acme' })).toMatchObject({
      ...{ orgId: 'acme', type: 'offers', id },
    })
    expect(read({ type: 'offers', missing: `shops/${id}` })).toMatchObject({
      type: 'offers',
      missing: { type: 'shops', id },
    })
  })

  it.each([
    [{ missing: id }, 'does not name a record: write its type and its id, such as shops/'],
    [{ record: 'offers/12' }, 'does not name a record'],
    [{ record: `offer/${id}` }, 'there is no type "offer": did you mean offers?'],
    [{ record: `offers/${id}`, type: 'shops' }, 'is none of the shops: leave --type out'],
    [{ org: 'ACME' }, "cannot be an organisation's id"],
  ])('is refused in one line that says what to write: %j', (given, message) =>
    expect(() => read(given)).toThrow(message),
  )
})
