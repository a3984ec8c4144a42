import { type Connection, inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { changedBy, countOf, firstRow, rowsOf } from '#platform/postgres/rows.js'
import { commandLine, noteAudit } from '../audit.js'
import { type Claim, claimRetries, type FieldChange } from './claims.js'

// integrity.retry_orders: what uploaders and operators asked to have submitted again. The claims of an order are in integrity.retries.

/** How many rejections were meant, how many of them were claimed, and why the others were not. */
export type OrderCounts = {
  matched: number
  submitted: number
  skipped: Record<string, number>
  /** Where the next order goes on, where not all were looked at. */
  nextCursor?: string | null
}

/** `keyId` is the API key that it is placed with. */
export type NewOrder = {
  orderId: string
  org: string
  keyId: string | null
  bodySha256: Buffer
  change?: FieldChange | undefined
  /** Where an operator places it: whether records are meant even where a later one of the same id was accepted. */
  operators?: { evenSuperseded: boolean }
}

/** Writes an order and claims its rejections, or nothing. False where the order is there: the same request came before. */
export const placeOrder = (
  pool: Pool,
  order: NewOrder,
  claims: readonly Claim[],
  countsOf: (claimed: number) => OrderCounts,
): Promise<boolean> =>
  inTransaction(pool, async (connection) => {
    // Written first: another one with this id waits here until this one is committed.
    if (!(await insertOrder(connection, order))) return false
    const claimed = await claimRetries(connection, claims, order.orderId)
    const { matched, submitted, skipped, nextCursor } = countsOf(claimed.length)
    await connection.query(
      'update integrity.retry_orders set matched = $2, submitted = $3, skipped = $4, next_cursor = $5 where order_id = $1',
      [order.orderId, matched, submitted, JSON.stringify(skipped), nextCursor ?? null],
    )
    if (submitted > 0) {
      const { orderId: requestId, org, keyId } = order
      const by = { actor: keyId ?? commandLine.actor, requestId }
      const details = { records: submitted, ...(order.operators?.evenSuperseded && { even_superseded: true }) }
      await noteAudit(connection, by, { org, action: 'retry_ordered', subject: requestId, details })
    }
    return true
  })

const insertOrder = async (connection: Connection, order: NewOrder): Promise<boolean> => {
  const { rowCount } = await connection.query(
    `insert into integrity.retry_orders
      (order_id, org_id, body_sha256, key_id, by_operator, even_superseded, change, matched, submitted, skipped)
    values ($1, $2, $3, $4, $5, $6, $7, 0, 0, '{}')
    on conflict do nothing`,
    [
      ...[order.orderId, order.org, order.bodySha256, order.keyId],
      ...[order.operators !== undefined, order.operators?.evenSuperseded ?? false],
      order.change ? JSON.stringify(order.change) : null,
    ],
  )
  return rowCount === 1
}

/** An order, and what became of its claims so far. `requests` are the first hundred that were answered. */
export type StoredOrder = PlacedOrder & {
  accepted: number
  refused: number
  waiting: number
  requests: { request_id: string; type: string; accepted: number; refused: number }[]
}

type PlacedOrder = Required<OrderCounts> & { orderId: string; bodySha256: Buffer; orderedAt: Date }

export const findOrder = async (pool: Pool, org: string, orderId: string): Promise<StoredOrder | undefined> => {
  const order = await firstRow<PlacedOrder>(
    pool,
    `select order_id as "orderId", body_sha256 as "bodySha256", ordered_at as "orderedAt", matched, submitted, skipped,
      next_cursor as "nextCursor"
    from integrity.retry_orders
    where order_id = $1 and org_id = $2`,
    [orderId, org],
  )
  if (!order) return undefined
  const outcomes = await rowsOf<StoredOrder['requests'][number] & { waiting: number }>(
    pool,
    `select request_id, type, count(*) filter (where outcome = 'accepted') as accepted,
      count(*) filter (where outcome = 'refused') as refused, count(*) filter (where outcome is null) as waiting
    from integrity.retries
    where order_id = $1
    group by request_id, type
    order by min(answered_at), request_id`,
    [orderId],
  )
  const sum = (what: 'accepted' | 'refused' | 'waiting') => outcomes.reduce((total, row) => total + row[what], 0)
  return {
    ...order,
    accepted: sum('accepted'),
    refused: sum('refused'),
    waiting: sum('waiting'),
    requests: outcomes
      .filter(({ request_id }) => request_id !== null)
      .slice(0, 100)
      .map(({ waiting: _, ...request }) => request),
  }
}

/** How many rejections of an organisation it has ordered itself that are not answered yet. */
export const countOrdered = (pool: Pool, org: string): Promise<number> =>
  countOf(
    pool,
    `select count(*) as count
    from integrity.retries r
    join integrity.retry_orders o on o.order_id = r.order_id
    where r.org_id = $1 and r.outcome is null and not o.by_operator`,
    [org],
  )

/** Removes at most `most` orders from before a moment, of which nothing waits any more. */
export const pruneOrders = (pool: Pool, before: Date, most: number): Promise<number> =>
  changedBy(
    pool,
    `delete from integrity.retry_orders
    where order_id in (
      select order_id
      from integrity.retry_orders o
      where ordered_at < $1 and not exists (
        select from integrity.retries r where r.order_id = o.order_id and r.outcome is null
      )
      order by ordered_at
      limit $2
      for update skip locked
    )`,
    [before, most],
  )
