import { randomUUID } from 'node:crypto'
import { uuidv7 } from 'uuidv7'
import { expect, it } from 'vitest'
import { claimRetries, findOrdered, findUnanswered, releaseSome, settleRetries } from '#ledger/retries/claims.js'
import type { Job } from '#rejections/plan-retry.js'
import { type OrderDeps, orderRetries, wavesOf } from '../../../../services/operator/rejected/order-retries.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'

const { pool } = await openMigratedDatabase(4)

const jobOf = (org: string, type: string, count: number): Job => ({
  retryId: uuidv7(),
  org,
  type,
  wanted: Array.from({ length: count }, (_, index) => ({ batchId: randomUUID(), index, rejectedAt: new Date(0) })),
})
const edge = { name: 'the edge', address: 'http://edge', variable: 'EDGE_URL', check: async () => {} }
const options = { evenSuperseded: false, replaceEachOther: () => true }
const openRun = (over: Partial<OrderDeps> = {}) => {
  const run = { done: 0, notes: [] as string[] }
  const deps: OrderDeps = {
    ...{ pool, edge, signal: new AbortController().signal },
    note: (text) => run.notes.push(text),
    onDone: (records) => {
      run.done += records
    },
    ...over,
  }
  return { run, deps }
}
/** An edge that answers what is ordered of these organisations, until it is stopped: all is accepted but the record at index 1. */
const workFor = (...orgs: string[]) => {
  const sent: string[] = []
  let isStopped = false
  const work = async () => {
    while (!isStopped) {
      for (const org of orgs) {
        const [job] = await findOrdered(pool, org, 1)
        if (!job) continue
        sent.push(`${job.org} ${job.type} ${job.wanted.length}`)
        await releaseSome(
          pool,
          job.retryId,
          job.wanted.filter(({ index }) => index === 2),
        )
        const rest = job.wanted.filter(({ index }) => index !== 2)
        const outcomeOf = (index: number) => (index === 1 ? ('refused' as const) : ('accepted' as const))
        await settleRetries(
          pool,
          randomUUID(),
          rest.map((each) => ({ ...each, outcome: outcomeOf(each.index) })),
        )
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const working = work()
  return {
    sent,
    stop: async () => {
      isStopped = true
      await working
    },
  }
}

it('orders what is to be sent, waits until it is done, and says what came of it', async () => {
  const [a, b] = [`a-${randomUUID()}`, `b-${randomUUID()}`]
  const jobs = [jobOf(a, 'shops', 2), jobOf(b, 'shops', 1), jobOf(a, 'offers', 3)]
  // Claimed by another run between the plan and the order.
  const [taken] = (jobs[0] as Job).wanted
  if (taken) await claimRetries(pool, [{ ...taken, retryId: randomUUID(), org: a, type: 'shops' }], randomUUID())
  await settleRetries(pool, randomUUID(), [{ batchId: taken?.batchId ?? '', index: 0, outcome: 'accepted' }])
  const working = workFor(a, b)
  const { run, deps } = openRun()
  const sent = await orderRetries(deps, { jobs, unfinished: [] }, options)
  await working.stop()
  expect(sent).toEqual({ accepted: 2, refused: 2, givenUp: 1, gone: 1 })
  expect(run).toEqual({ done: 6, notes: [] })
  // What is referred to is decided first.
  expect(working.sent.at(-1)).toBe(`${a} offers 3`)
  const { rows } = await pool.query(
    'select by_operator, even_superseded, submitted from integrity.retry_orders where org_id = $1',
    [a],
  )
  expect(rows).toEqual([{ by_operator: true, even_superseded: false, submitted: 5 }])
})

it('watches what an earlier run had ordered, and orders what one of an older version had begun without', async () => {
  const org = `left-${randomUUID()}`
  const [ordered, begun] = [jobOf(org, 'shops', 2), jobOf(org, 'offers', 1)]
  const stop = new AbortController()
  const { deps } = openRun({ signal: stop.signal })
  const stopped = orderRetries(deps, { jobs: [ordered], unfinished: [] }, options)
  while ((await findOrdered(pool, org, 9)).length === 0);
  stop.abort(new Error('stopped'))
  await expect(stopped).rejects.toThrow('stopped')
  await claimRetries(
    pool,
    begun.wanted.map((each) => ({ ...each, retryId: begun.retryId, org, type: 'offers' })),
  )

  const unfinished = (await findUnanswered(pool)).filter((one) => one.org === org)
  expect(unfinished.map(({ orderId }) => orderId === null)).toEqual([false, true])
  const working = workFor(org)
  const next = openRun()
  expect(await orderRetries(next.deps, { jobs: [], unfinished }, options)).toEqual({
    ...{ accepted: 2, refused: 1, givenUp: 0, gone: 0 },
  })
  await working.stop()
  expect(next.run.done).toBe(3)
})

it('does not wait for ever where no edge is there, or none that sends what is ordered', async () => {
  const check = () => Promise.reject(new Error('connect ECONNREFUSED'))
  const away = openRun({ edge: { ...edge, check }, patience: 1 })
  const give = (org: string) => ({ jobs: [jobOf(org, 'shops', 1)], unfinished: [] })
  await expect(orderRetries(away.deps, give('away'), options)).rejects.toThrow(
    'the edge does not answer at http://edge (connect ECONNREFUSED): nothing is lost; run this again to go on',
  )
  const silent = openRun({ patience: 1 })
  await expect(orderRetries(silent.deps, give('silent'), options)).rejects.toThrow(
    'the edge answers at http://edge, but sends nothing of what was ordered',
  )
  expect(silent.run.notes).toHaveLength(4)
  for (const org of ['away', 'silent']) expect(await findOrdered(pool, org, 9)).toHaveLength(1)
})

it('orders in waves: one type at a time, and of each organisation no more at once than may wait', () => {
  const jobs = [
    ...[
      jobOf('a', 'shops', 6),
      jobOf('a', 'shops', 6),
      jobOf('b', 'shops', 3),
      jobOf('b', 'shops', 3),
      jobOf('a', 'shops', 1),
    ],
    ...[jobOf('a', 'offers', 99), jobOf('b', 'offers', 1)],
  ]
  const places = (waves: Iterable<Job[]>) => [...waves].map((wave) => wave.map((job) => jobs.indexOf(job)))
  // The last of a's shops stays behind the one before it, though there would be room for it.
  expect(places(wavesOf(jobs, () => 10))).toEqual([
    [0, 2, 3],
    [1, 4],
    [5, 6],
  ])
  expect(places(wavesOf(jobs, () => 0))).toEqual([[0, 2], [1, 3], [4], [5, 6]])
})
