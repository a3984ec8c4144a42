import { randomBytes, randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { listAudit } from '#ledger/audit.js'
import {
  claimRetries,
  findOrdered,
  findOrderingOrgs,
  findRetries,
  findUnanswered,
  markSent,
  releaseSome,
  settleRetries,
} from '#ledger/retries/claims.js'
import { countOrdered, findOrder, placeOrder, pruneOrders } from '#ledger/retries/orders.js'
import { tryAlone } from '#platform/postgres/alone.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'

const { pool } = await openMigratedDatabase(6)

const rejectedAt = new Date(Date.UTC(2026, 0, 1))
const claims = (org: string, count: number, retryId: string = randomUUID()) =>
  Array.from({ length: count }, (_, index) => ({
    retryId,
    batchId: randomUUID(),
    index,
    org,
    type: 'offers',
    rejectedAt,
  }))
const newOrder = (org: string) => ({ orderId: randomUUID(), org, keyId: 'k7f3a9c1', bodySha256: randomBytes(32) })
const countsOf = (matched: number) => (claimed: number) => ({
  matched,
  submitted: claimed,
  skipped: { already_retried: matched - claimed },
})

it('gives each rejection to one order, however many want it at the same moment, and never waits in a circle', async () => {
  const org = `org-${randomUUID()}`
  const wanted = claims(org, 300)
  // Each in another order: without an order of their own, two of them would wait for each other.
  const shuffled = Array.from({ length: 6 }, (_, i) => [...wanted.slice(i * 50), ...wanted.slice(0, i * 50)].reverse())
  const orders = shuffled.map(() => newOrder(org))
  const placed = orders.map((order, i) => placeOrder(pool, order, shuffled[i] ?? [], countsOf(300)))
  const operators = claimRetries(pool, wanted)
  expect(await Promise.all(placed)).toEqual(orders.map(() => true))
  const found = await Promise.all(orders.map(({ orderId }) => findOrder(pool, org, orderId)))
  const claimed = found.reduce((sum, order) => sum + (order?.submitted ?? 0), 0)
  expect(claimed + (await operators).length).toBe(300)
  for (const order of found) expect(order).toMatchObject({ matched: 300, waiting: order?.submitted, accepted: 0 })
  expect(await countOrdered(pool, org)).toBe(claimed)
})

it('is written once for one id, with all of its claims or none', async () => {
  const org = `org-${randomUUID()}`
  const order = newOrder(org)
  const both = [claims(org, 2), claims(org, 3)].map((some) => placeOrder(pool, order, some, countsOf(some.length)))
  expect((await Promise.all(both)).sort()).toEqual([false, true])
  const found = await findOrder(pool, org, order.orderId)
  expect(found?.waiting).toBe(found?.matched)
  expect(await listAudit(pool, org, { most: 9 })).toMatchObject([
    {
      action: 'retry_ordered',
      subject: order.orderId,
      by: { actor: 'k7f3a9c1' },
      details: { records: found?.submitted },
    },
  ])
  expect(await findOrder(pool, `${org}-2`, order.orderId)).toBeUndefined()

  const failing = newOrder(org)
  const cutOff = placeOrder(pool, failing, claims(org, 4), () => {
    throw new Error('cut off')
  })
  await expect(cutOff).rejects.toThrow('cut off')
  expect(await findOrder(pool, org, failing.orderId)).toBeUndefined()
  expect(await countOrdered(pool, org)).toBe(found?.matched)
})

it('knows what is to be sent, what may be given back, and what became of it', async () => {
  const org = `org-${randomUUID()}`
  const order = newOrder(org)
  const [first, second] = [claims(org, 3), claims(org, 2)]
  await placeOrder(pool, order, [...first, ...second], countsOf(5))
  expect(await findOrderingOrgs(pool, 1000)).toContain(org)
  // An operator's next run has nothing to do with it.
  expect((await findUnanswered(pool)).filter((one) => one.org === org)).toEqual([])
  const jobs = await findOrdered(pool, org, 9)
  expect(jobs.map(({ wanted, isSent, keyId }) => [wanted.length, isSent, keyId]).sort()).toEqual([
    [2, false, 'k7f3a9c1'],
    [3, false, 'k7f3a9c1'],
  ])

  const [given, sent] = [first[0], second[0]]
  await markSent(pool, [sent?.retryId ?? ''])
  await releaseSome(pool, given?.retryId ?? '', first.slice(0, 1))
  await releaseSome(pool, sent?.retryId ?? '', second.slice(0, 1))
  expect(await findOrder(pool, org, order.orderId)).toMatchObject({ submitted: 5, waiting: 4 })
  const requestId = randomUUID()
  await settleRetries(
    pool,
    requestId,
    second.map(({ batchId, index }) => ({ batchId, index, outcome: index === 0 ? 'accepted' : 'refused' })),
  )
  expect(await findOrder(pool, org, order.orderId)).toMatchObject({
    waiting: 2,
    accepted: 1,
    refused: 1,
    requests: [{ request_id: requestId, type: 'offers', accepted: 1, refused: 1 }],
  })

  const tomorrow = new Date(Date.now() + 86_400_000)
  await pruneOrders(pool, tomorrow, 1000)
  expect(await findOrder(pool, org, order.orderId)).toBeDefined()
  await releaseSome(pool, given?.retryId ?? '', first)
  await pruneOrders(pool, tomorrow, 1000)
  expect(await findOrder(pool, org, order.orderId)).toBeUndefined()
})

it("keeps an operator's order apart from the uploader's own, and knows what an operator left", async () => {
  const org = `org-${randomUUID()}`
  const [own, operators] = [claims(org, 2), claims(org, 3)]
  const order = { ...newOrder(org), keyId: null, operators: { evenSuperseded: true } }
  await placeOrder(pool, newOrder(org), own, countsOf(2))
  await placeOrder(pool, order, operators, countsOf(3))
  expect(await countOrdered(pool, org)).toBe(2)
  const left = (await findUnanswered(pool)).filter((one) => one.org === org)
  expect(left).toMatchObject([{ orderId: order.orderId, evenSuperseded: true, keyId: null, wanted: { length: 3 } }])
  const orderIds = new Set([...(await findRetries(pool, operators)).values()].map(({ order_id }) => order_id))
  expect([...orderIds]).toEqual([null])
  expect(await findOrdered(pool, org, 9)).toHaveLength(2)
})

it('lets one edge at a time send what an organisation ordered, and another one beside it for another', async () => {
  const result = await tryAlone(pool, 'a', async () => [
    await tryAlone(pool, 'a', async () => 'never'),
    await tryAlone(pool, 'b', async () => 'beside'),
  ])
  expect(result).toEqual({ done: [undefined, { done: 'beside' }] })
  expect(await tryAlone(pool, 'a', async () => 'after')).toEqual({ done: 'after' })
})
