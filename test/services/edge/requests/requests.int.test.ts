import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, expect, it } from 'vitest'
import { insertEntities } from '#ledger/entities.js'
import { insertKeyedInteractions, insertKeyedRequests } from '#ledger/keyed-interactions.js'
import { type NotedRequest, pruneRequests, saveRequests } from '#ledger/requests.js'
import { insertVerdicts } from '#ledger/verdicts.js'
import { createPool, inTransaction } from '#platform/postgres/postgres.js'
import type { VerdictEvent } from '#schemas/events.js'
import { startPruning } from '../../../../services/edge/requests/notes.js'
import { createVerdictStore } from '../../../../services/edge/requests/verdict-store.js'
import { createFindKnown } from '../../../../services/edge/uploads/dry-run.js'
import { eventually } from '../../../support/eventually.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'
import { openPostgresLink } from '../../../support/postgres-link.js'
import { storeWaits } from '../../query/waiting/store-waits.js'
import { requestOf, verdictStoreContract, verdictsOn } from '../contracts/verdict-store.contract.js'

const log = pino({ level: 'silent' })
const { pool, url } = await openMigratedDatabase()

const hour = 3_600_000
const save = (...requests: NotedRequest[]) => saveRequests(pool, requests)

/** Stores verdicts on the first `count` batches of a request. */
const decideSome = (request: NotedRequest, count: number): Promise<void> => decide(verdictsOn(request).slice(0, count))

const decide = (verdicts: readonly VerdictEvent[]): Promise<void> => {
  const place = { repeated: [], topic: 'weir.submitted.shops', partition: 0 }
  const placed = verdicts.map((verdict, i) => ({ ...verdict, ...place, submitted_offset: i }))
  return inTransaction(pool, (connection) => insertVerdicts(connection, placed))
}

// Nothing listens on port 1.
const away = createPool('postgres://weir@127.0.0.1:1/weir', log, 1)
afterAll(() => away.end())

verdictStoreContract(() => ({
  wait: (waits) => storeWaits(pool, waits),
  store: createVerdictStore(pool),
  away: createVerdictStore(away),
  decide,
  place: (decided) => inTransaction(pool, (connection) => insertKeyedRequests(connection, decided)),
  take: (orgId, id, interaction) =>
    inTransaction(pool, (connection) => insertKeyedInteractions(connection, [{ orgId, id, ...interaction }])),
}))

it('prunes the notes that are too old and those that are decided, a few at a time', async () => {
  await pool.query('truncate edge.requests')
  const at = (hours: number, over: Partial<NotedRequest> = {}) =>
    requestOf({ submittedAt: Date.now() - hours * hour, ...over })
  const old = Array.from({ length: 5 }, () => at(49))
  const [waiting, partly, decided, justDecided] = [at(47), at(2), at(2), at(0.5)]
  await save(...old, waiting, partly, decided, justDecided)
  await decideSome(partly, 1)
  await decideSome(decided, 2)
  await decideSome(justDecided, 2)

  expect(await pruneRequests(pool, 48, 2)).toBe(2)
  expect(await pruneRequests(pool, 48, 100)).toBe(4)
  expect(await pruneRequests(pool, 48, 100)).toBe(0)
  const { rows } = await pool.query<{ request_id: string }>('select request_id from edge.requests')
  expect(new Set(rows.map(({ request_id }) => request_id))).toEqual(
    new Set([waiting, partly, justDecided].map(({ requestId }) => requestId)),
  )
})

it('prunes by itself, again and again, and what is new stays', async () => {
  const pruning = startPruning({ config: { REQUEST_RETENTION_HOURS: 720, PRUNE_EVERY_SECONDS: 0.05 }, pool, log })
  for (const count of [1200, 3]) {
    await save(...Array.from({ length: count }, () => requestOf({ submittedAt: Date.now() - 800 * hour })))
    await eventually(async () => expect(await oldRequests()).toBe(0))
  }
  const young = requestOf()
  await save(young)
  await pruning.stop()
  const { rows } = await pool.query('select from edge.requests where request_id = $1', [young.requestId])
  expect(rows).toHaveLength(1)
})

const oldRequests = async (): Promise<number | null> =>
  (await pool.query(`select from edge.requests where submitted_at < now() - interval '720 hours'`)).rowCount

it('knows the entities of an organisation, and not those of others', async () => {
  const [own, foreign, unknown] = [randomUUID(), randomUUID(), randomUUID()]
  await inTransaction(pool, (connection) =>
    insertEntities(connection, [
      { orgId: 'acme', type: 'shops', id: own },
      { orgId: 'other', type: 'shops', id: foreign },
    ]),
  )
  const references = [own, foreign, unknown, own].map((id) => ({ field: 'shop_id', type: 'shops', id }))
  const isKnown = await createFindKnown(pool)('acme', references)
  expect(references.map(isKnown)).toEqual([true, false, false, true])
  expect(isKnown({ type: 'tags', id: own })).toBe(false)
  expect((await createFindKnown(pool)('acme', []))({ type: 'shops', id: own })).toBe(false)
})

it('says that Postgres is away when it hangs, and goes on when it is back', async () => {
  const link = await openPostgresLink(url)
  const hanging = createPool(link.url, log, 2, { queryTimeout: 300 })
  try {
    const store = createVerdictStore(hanging)
    const request = requestOf()
    await store.saveRequests([request])
    link.freeze()
    await expect(store.ofRequest('acme', request.requestId)).rejects.toThrow('cannot be read at the moment')
    await expect(store.saveRequests([request])).rejects.toThrow('nothing of it was taken')
    link.thaw()
    await eventually(async () => expect((await store.ofRequest('acme', request.requestId)).noted).toEqual(request))
  } finally {
    link.thaw()
    await hanging.end()
    await link.close()
  }
})
