import type { ClickHouse } from '#platform/clickhouse.js'
import { rejectionsLog } from '#schemas/derive/names.js'
import { fill, id, offers, people, shops, smallWorld, users } from '../../schemas/marts/small-world.js'

const view = (customer: string, seen: string) => ({
  ...{ interaction_type: 'PAGE_VIEW', item_type: 'SHOP', item_id: shops.books, platform: 'WEB', country: 'GB' },
  ...{ student_id: customer, event_timestamp: seen, recorded_at: seen },
})

/** The small world of the marts, with what it lacks for each question of the page to have something to tell. */
const world = {
  ...smallWorld,
  customers: [
    ...(smallWorld.customers ?? []),
    { customer_id: people.bob, user_id: users.bob, region: 'FR', version: 2, accepted_at: '2026-03-10 00:00:00' },
  ],
  transactions: [
    ...(smallWorld.transactions ?? []),
    {
      ...{
        transaction_id: id(209),
        shop_id: shops.cafe,
        region: 'GB',
        amount: 0.29,
        savings: 2,
        student_id: people.cy,
      },
      ...{ offer_id: offers.cup, created: '2026-04-02 12:00:00', accepted_at: '2026-04-02 12:00:01' },
    },
  ],
  interactions: [
    ...(smallWorld.interactions ?? []),
    { interaction_id: id(400), ...view(people.bob, '2026-02-09 10:00:00') },
    { interaction_id: id(401), ...view(people.cy, '2026-02-09 11:00:00') },
  ],
}

/** Writes this world, and two refusals of this moment. */
export const fillForAnalysts = async (clickhouse: ClickHouse, org: string): Promise<void> => {
  await fill(clickhouse, org, world)
  const refused = [{ field: 'region', code: 'bad_format', message: 'must be a 2-letter country code, like GB' }]
  const now = new Date().toISOString().replace('T', ' ').replace('Z', '')
  const rows = [0, 1].map((index) =>
    JSON.stringify({ org_id: org, rejected_at: now, version: index + 1, type: 'shops', index, problems: refused }),
  )
  await clickhouse.command(`insert into weir.${rejectionsLog} format JSONEachRow\n${rows.join('\n')}`)
}
