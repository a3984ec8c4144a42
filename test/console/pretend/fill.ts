import { randomUUID } from 'node:crypto'
import { fillMarts } from './marts.js'
import { fillPersons } from './persons.js'
import { ago, type startPretendEdge } from './pretend-edge.js'
import { fillWebhooks } from './webhooks.js'

/** Data to look at: webhooks, shops, offers with some faults, two weeks of quality, a year of sales, records that wait, a busy quarter of an hour. */
export const fill = ({
  world,
  waiting,
  days,
  marts,
  webhooks,
  persons,
}: Awaited<ReturnType<typeof startPretendEdge>>) => {
  const shops = Array.from({ length: 8 }, (_, index) => ({
    shop_id: randomUUID(),
    name: `Corner Books ${index + 1}`,
    region: 'GB',
    is_public: true,
  }))
  world.upload('demo', 'shops', shops, false)
  fillMarts(marts, 'demo', shops)
  fillWebhooks(webhooks, 'demo')
  fillPersons(persons, 'demo')
  const [first] = shops
  world.upload('demo', 'shops', [{ ...first, name: 'Corner Books & Sons', region: 'IE' }], false)
  const offer = (more: object) => ({
    offer_id: randomUUID(),
    shop_id: first?.shop_id,
    name: 'Ten off',
    type: 'percentage',
    value: 10,
    region: 'GB',
    ...more,
  })
  world.upload(
    'demo',
    'offers',
    Array.from({ length: 5 }, () => offer({})),
    false,
  )
  world.upload(
    'demo',
    'offers',
    [
      offer({ value: -5 }),
      offer({ region: 'Great Britain' }),
      offer({ shop_id: randomUUID() }),
      offer({ shop_id: randomUUID() }),
      offer({ colour: 'red' }),
    ],
    false,
  )
  world.upload('demo', 'tags', [{ tag_id: 'not-a-uuid', name: 'sale' }], false)
  for (const [index, count] of [812, 240, 17].entries())
    waiting.push({
      org: 'demo',
      type: index === 1 ? 'customers' : 'shops',
      id: randomUUID(),
      waiting: count,
      oldest: ago(5400 - index * 900),
      first_until: ago(-80_000 + index * 9000),
      sample: [
        { type: 'offers', id: randomUUID(), field: 'shop_id', request_id: randomUUID(), index: 3, until: ago(-80_000) },
      ],
    })
  for (let day = 0; day < 14; day += 1)
    for (const [type, size] of [
      ['shops', 120],
      ['offers', 2400],
      ['transactions', 9800],
    ] as const) {
      const received = Math.round(size * (0.7 + 0.6 * Math.abs(Math.sin(day + size))))
      const refused = Math.round(received * 0.03 * (1 + (day % 3)))
      days.push({
        org: 'demo',
        type,
        day: ago(day * 86_400).slice(0, 10),
        received,
        accepted: received - refused,
        refused,
        top_codes: [
          { code: 'unknown_reference', count: Math.round(refused * 0.7) },
          { code: 'bad_format', count: Math.round(refused * 0.3) },
        ],
        last_accepted_at: ago(day * 86_400),
      })
    }
  for (let at = 0; at < 180; at += 1)
    Object.assign(world.bucketOf(Date.now() - at * 5000), {
      accepted: Math.round(900 + 600 * Math.sin(at / 17)),
      refused: at % 23 === 0 ? 120 : 12,
      waiting: at > 90 && at < 130 ? 160 : 0,
      interactions: Math.round(350 + 120 * Math.cos(at / 9)),
    })
}
