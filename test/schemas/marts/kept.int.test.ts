import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { catalogue } from '#schemas/catalogue.js'
import { keptMarts, ofOrganisation } from '#schemas/derive/clickhouse/kept.js'
import { createMartKeeper } from '../../../services/sink/keep-marts.js'
import { makeTables } from '../../support/make-tables.js'
import { sharedParts } from '../../support/shared-parts.js'
import { sized } from '../../support/sized.js'
import { fill, smallWorld } from './small-world.js'

const clickhouse = createClickHouse(sharedParts.CLICKHOUSE_URL)
const keeper = createMartKeeper(clickhouse, catalogue, 1)
const mart = (name: string) => keptMarts.find((each) => each.name === name) ?? expect.fail(name)
type Mart = ReturnType<typeof mart>

beforeAll(() => makeTables(clickhouse))
afterAll(() => clickhouse.close())

const shownOf = (of: Mart, org: string) =>
  clickhouse.query(`select * from weir.${of.name} where org_id = {org:String} order by all`, { org })
const lawOf = (of: Mart, org: string) => clickhouse.query(`${ofOrganisation(of, org)} order by all`)
const keep = (name: string, org: string, isWhole = true) => keeper.keep({ org, mart: mart(name), isWhole })
const dueOf = async (org: string) =>
  (await keeper.due(await keeper.large())).filter((due) => due.org === org).map((due) => due.mart.name)

const purchase = (n: number, version: number, more: object) => ({
  transaction_id: `00000000-0000-4000-9000-${String(n).padStart(12, '0')}`,
  ...{ version, region: 'GB', savings: 0, created: '2026-03-01 12:00:00' },
  ...more,
})

describe('a mart that is kept', () => {
  const [org, other] = [randomUUID(), randomUUID()]
  beforeAll(async () => {
    await fill(clickhouse, org, smallWorld)
    await fill(clickhouse, other, smallWorld)
  })

  it.each(keptMarts)('shows the same as before: $name, and of an organisation for which it is not', async (each) => {
    const rows = await lawOf(each, org)
    expect(rows.length).toBeGreaterThan(0)
    expect(await shownOf(each, org)).toEqual(rows)
    await keep(each.name, org)
    expect(await shownOf(each, org)).toEqual(rows)
    expect(await shownOf(each, other)).toEqual(await lawOf(each, other))
    await keep(each.name, org, false)
    expect(await shownOf(each, org)).toEqual(rows)
  })
})

// What organisations without kept rows have is asked for only where one of them has such a record.
it.each(keptMarts)('an organisation without a record of the first type has no row: $name', async (each) => {
  const org = randomUUID()
  const [first = ''] = each.from
  await fill(clickhouse, org, Object.fromEntries(Object.entries(smallWorld).filter(([type]) => type !== first)))
  expect(await lawOf(each, org)).toEqual([])
})

describe('sales that are kept', () => {
  const [{ shop_id: shop } = { shop_id: '' }] = smallWorld.shops as { shop_id: string }[]
  const amountOf = async (org: string) =>
    (
      await clickhouse.query<{ day: string; amount: string }>(
        'select day, toString(sum(amount)) as amount from weir.sales_by_day where org_id = {org:String} group by day order by day',
        { org },
      )
    ).map(({ day, amount }) => `${day} ${amount}`)

  it('stay as they were until they are made anew, and then follow what was replaced, moved and deleted', async () => {
    const org = randomUUID()
    await fill(clickhouse, org, {
      transactions: [purchase(1, 1, { shop_id: shop, amount: 1 }), purchase(2, 1, { shop_id: shop, amount: 2 })],
    })
    await keep('sales_by_day', org)
    expect(await amountOf(org)).toEqual(['2026-03-01 3'])

    await fill(clickhouse, org, {
      transactions: [
        purchase(1, 2, { shop_id: shop, amount: 5, created: '2026-03-02 12:00:00' }),
        purchase(2, 2, { shop_id: shop, amount: 2, is_deleted: true }),
      ],
    })
    expect(await amountOf(org)).toEqual(['2026-03-01 3'])
    expect(await dueOf(org)).toContain('sales_by_day')
    await keep('sales_by_day', org, false)
    expect(await amountOf(org)).toEqual(['2026-03-02 5'])
  })

  it('are not due when nothing changed that they come from', async () => {
    const org = randomUUID()
    await fill(clickhouse, org, { transactions: [purchase(1, 1, { shop_id: shop, amount: 1 })] })
    for (const { name } of keptMarts) await keep(name, org)
    expect(await dueOf(org)).toEqual([])
    await fill(clickhouse, org, { shops: [{ shop_id: shop, name: 'Another', region: 'GB' }] })
    const due = await dueOf(org)
    expect(due).toContain('shops_overview')
    expect(due).not.toContain('sales_by_day')
  })

  it('show no rows that an interrupted making left', async () => {
    const org = randomUUID()
    await fill(clickhouse, org, { transactions: [purchase(1, 1, { shop_id: shop, amount: 1 })] })
    await keep('sales_by_day', org)
    await clickhouse.command(
      `insert into weir.sales_by_day_kept (org_id, day, shop_id, amount, generation) values ('${org}', '2026-03-01', '${shop}', 7, 7)`,
    )
    expect(await amountOf(org)).toEqual(['2026-03-01 1'])
  })
})

describe('marts that are made anew in parts', () => {
  /** The same numbers for the same seed. */
  const numbersFrom = (seed: number) => {
    let state = seed
    return (below: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
  }
  const id = (kind: number, n: number) => `0000000${kind}-0000-4000-9000-${String(n).padStart(12, '0')}`
  const minute = (n: number) => new Date(Date.UTC(2026, 4, 1) + n * 60_000).toISOString().replace('T', ' ').slice(0, 19)

  it.each(sized([1], [1, 2, 3]))(
    'show after every step what their query says, whatever was replaced, moved or deleted: history %i',
    async (seed) => {
      const below = numbersFrom(seed)
      const org = randomUUID()
      let version = 0
      const oneOf = <T>(...choices: T[]): T => choices[below(choices.length)] as T
      const transaction = () => ({
        transaction_id: id(1, below(12)),
        shop_id: id(2, below(3)),
        student_id: oneOf(null, id(3, below(4)), id(3, below(4))),
        offer_id: oneOf(null, id(4, below(2))),
        region: oneOf('GB', 'FR'),
        amount: below(1000) / 100,
        savings: 0,
        // Without it, a transaction happened when this version of it was accepted: it moves with each.
        created: oneOf(null, `2026-0${1 + below(3)}-0${1 + below(3)} 12:00:00`),
        is_deleted: below(4) === 0,
      })
      const customer = () => ({
        customer_id: id(3, below(4)),
        user_id: id(5, below(4)),
        region: oneOf('GB', 'FR'),
        is_deleted: below(5) === 0,
      })
      const favourite = () => ({
        student_favourite_id: id(6, below(5)),
        customer_id: id(3, below(4)),
        shop_id: id(2, below(3)),
        is_deleted: below(3) === 0,
      })
      const tagged = () => ({
        shop_tag_id: id(7, below(3)),
        shop_id: id(2, below(3)),
        tag_id: id(8, 0),
        is_deleted: below(3) === 0,
      })
      await fill(clickhouse, org, { tags: [{ tag_id: id(8, 0), name: 'study' }] })

      const inParts = keptMarts.filter(({ kept }) => kept.parts)
      for (let step = 0; step < sized(6, 20); step++) {
        const makers = {
          transactions: transaction,
          customers: customer,
          'student-favourites': favourite,
          ...(step % 4 === 3 && { 'shop-tags': tagged }),
        }
        for (const [type, make] of Object.entries(makers))
          if (below(3) > 0 || type === 'transactions')
            await fill(clickhouse, org, {
              [type]: Array.from({ length: 1 + below(3) }, () => ({
                ...make(),
                version: ++version,
                accepted_at: minute(version * 700),
              })),
            })
        for (const each of inParts) {
          if (below(3) === 0) continue
          await keep(each.name, org, step === 0)
          expect(await shownOf(each, org), `${each.name} after step ${step}`).toEqual(await lawOf(each, org))
        }
      }
    },
  )
})
