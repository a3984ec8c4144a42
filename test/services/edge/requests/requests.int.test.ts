import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { insertEntities } from '#ledger/entities.js'
import { batchIdsOf, findRequest, type NotedRequest, pruneRequests, saveRequests } from '#ledger/requests.js'
import { insertVerdicts } from '#ledger/verdicts.js'
import { createPool, inTransaction } from '#platform/postgres/postgres.js'
import { startPruning } from '../../../../services/edge/requests/notes.js'
import { createVerdictStore } from '../../../../services/edge/requests/verdict-store.js'
import { createFindKnown } from '../../../../services/edge/uploads/dry-run.js'
import { eventually } from '../../../support/eventually.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'
import { openPostgresLink } from '../../../support/postgres-link.js'

const log = pino({ level: 'silent' })
const { pool, url } = await openMigratedDatabase()

const hour = 3_600_000
const requestOf = (over: Partial<NotedRequest> = {}): NotedRequest => ({
  requestId: randomUUID(),
  orgId: 'acme',
  type: 'shops',
  bodySha256: Buffer.alloc(32, 1),
  batchRecords: [500, 7],
  submittedAt: Date.now(),
  written: null,
  ...over,
})
const save = (...requests: NotedRequest[]) => saveRequests(pool, requests)
const find = ({ orgId, requestId }: NotedRequest) => findRequest(pool, orgId, requestId)

/** Verdicts on the first so many batches of a request. */
const decideSome = (request: NotedRequest, count: number): Promise<void> => {
  const verdicts = batchIdsOf(request).map((batch_id, i) => ({
    batch_id,
    org_id: request.orgId,
    request_id: request.requestId,
    type: request.type,
    batch: i + 1,
    batches: request.batchRecords.length,
    first_index: 0,
    body_sha256: request.bodySha256,
    accepted: 1,
    refused: [],
    repeated: [],
    decided_at: request.submittedAt,
    topic: 'weir.submitted.shops',
    partition: 0,
    submitted_offset: 0,
  }))
  return inTransaction(pool, (connection) => insertVerdicts(connection, verdicts.slice(0, count)))
}

it('finds a request by its note, by its verdicts and by both, for its own organisation', async () => {
  const [noted, both, decided] = [requestOf(), requestOf({ written: 2 }), requestOf()]
  expect(await save(noted, both)).toEqual(new Set([noted.requestId, both.requestId]))
  await decideSome(both, 1)
  await decideSome(decided, 2)
  expect(await find(noted)).toEqual({ verdicts: [], noted })
  expect(await find(both)).toMatchObject({ verdicts: [{ batch: 1, decided_at: both.submittedAt }], noted: both })
  expect(await find(decided)).toMatchObject({ verdicts: [{ batch: 1 }, { batch: 2 }], noted: undefined })
  for (const request of [noted, both, decided, requestOf()])
    expect(await findRequest(pool, 'other', request.requestId)).toEqual({ verdicts: [], noted: undefined })
})

it('takes the newest note of a request; what was written stays so, and another body changes nothing', async () => {
  const first = requestOf({ written: 1 })
  await save(first)
  const again = { ...first, submittedAt: first.submittedAt + 5000, written: null }
  await save(again)
  expect((await find(first)).noted).toEqual(again)
  await save({ ...again, written: 2 })
  await save(again)
  expect((await find(first)).noted).toEqual({ ...again, written: 2 })
  // Cut anew: what was written of the other cut says nothing about this one.
  const cut = { ...again, batchRecords: [507] }
  await save(cut)
  expect((await find(first)).noted).toEqual(cut)

  const fresh = requestOf()
  const saved = await save({ ...first, bodySha256: Buffer.alloc(32, 9), batchRecords: [1] }, fresh)
  expect(saved).toEqual(new Set([fresh.requestId]))
  expect((await find(first)).noted).toEqual(cut)
})

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
    expect((await store.ofRequest('acme', request.requestId)).noted).toEqual(request)
  } finally {
    link.thaw()
    await hanging.end()
    await link.close()
  }
})
