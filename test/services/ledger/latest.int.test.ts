import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { insertEntities } from '#ledger/entities.js'
import { countDecided, findDecidedSince, findLastAccepted } from '#ledger/latest/activity.js'
import { findThings } from '#ledger/latest/find-id.js'
import { listDecidedRequests, listPendingRequests } from '#ledger/latest/requests.js'
import { findSources } from '#ledger/latest/sources.js'
import { saveRequests } from '#ledger/requests.js'
import { insertVerdicts, type StoredVerdict } from '#ledger/verdicts.js'
import { countWaitingUpTo } from '#ledger/waiting/look-up.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'
import { insertWait } from '../../support/waits.js'

const { pool } = await openMigratedDatabase()
const start = Date.UTC(2026, 0, 1)
const refused = (index: number) => ({ index, id: null, problems: [] })
let offset = 0
const store = (...verdicts: Partial<StoredVerdict>[]) =>
  inTransaction(pool, (connection) =>
    insertVerdicts(
      connection,
      verdicts.map((over) => ({
        org_id: 'acme',
        request_id: randomUUID(),
        batch_id: randomUUID(),
        type: 'shops',
        batch: 1,
        batches: 1,
        first_index: 0,
        body_sha256: Buffer.alloc(32),
        decided_at: start,
        accepted: 1,
        refused: [],
        repeated: [],
        topic: 'weir.submitted.shops',
        partition: 0,
        submitted_offset: offset++,
        ...over,
      })),
    ),
  )
const types = ['shops', 'tags', 'interactions']

it('counts what was decided by stretches of time, of one organisation', async () => {
  await store(
    { decided_at: start, accepted: 2, refused: [refused(0)] },
    { decided_at: start + 4999, accepted: 3 },
    { decided_at: start + 5000, type: 'tags', accepted: 0, refused: [refused(0), refused(1)] },
    { decided_at: start, org_id: 'other', accepted: 100 },
    { decided_at: start + 10_000, accepted: 7 },
  )
  const asked = { orgId: 'acme', types, from: new Date(start), until: new Date(start + 10_000), seconds: 5 }
  const found = await countDecided(pool, asked)
  expect(found.sort((a, b) => a.at.getTime() - b.at.getTime())).toEqual([
    { at: new Date(start), type: 'shops', accepted: 5, refused: 1, waiting: 0 },
    { at: new Date(start + 5000), type: 'tags', accepted: 0, refused: 2, waiting: 0 },
  ])
  const since = await findDecidedSince(pool, { orgId: 'acme', types, since: new Date(start + 10_000), most: 10 })
  expect(since).toMatchObject([{ at: new Date(start + 10_000), type: 'shops', accepted: 7, refused: 0, waiting: 0 }])
  expect(await findLastAccepted(pool, 'acme', types)).toEqual([
    { type: 'shops', lastAcceptedAt: new Date(start + 10_000) },
    { type: 'tags', lastAcceptedAt: null },
    { type: 'interactions', lastAcceptedAt: null },
  ])
})

it('tells where batches lie and with which key they were sent, of one organisation', async () => {
  const [sent, unknown, strange] = [randomUUID(), randomUUID(), randomUUID()]
  await store(
    { org_id: 'sender', batch_id: sent, key_id: 'k7f3a9c1', submitted_offset: 8 },
    { org_id: 'sender', batch_id: unknown, partition: 1, submitted_offset: 9 },
    { org_id: 'stranger', batch_id: strange, key_id: 'k0000000' },
  )
  const topic = 'weir.submitted.shops'
  expect(await findSources(pool, 'sender', [sent, unknown, strange, randomUUID()])).toEqual(
    new Map([
      [sent, { topic, partition: 0, offset: 8, key_id: 'k7f3a9c1' }],
      [unknown, { topic, partition: 1, offset: 9, key_id: null }],
    ]),
  )
  expect(await findSources(pool, 'sender', [])).toEqual(new Map())
})

it('lists requests once, newest first, and page by page; those that are not decided apart', async () => {
  const orgId = 'lister'
  const [first, second, third, resumed] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  await store(
    { org_id: orgId, request_id: first, decided_at: start, batches: 2, accepted: 2 },
    {
      org_id: orgId,
      request_id: first,
      decided_at: start + 9000,
      batch: 2,
      batches: 2,
      accepted: 1,
      refused: [refused(0)],
    },
    { org_id: orgId, request_id: second, decided_at: start + 1000, batches: 2, accepted: 5 },
    { org_id: orgId, request_id: third, decided_at: start + 2000, type: 'tags', accepted: 0, refused: [refused(0)] },
    // A batch that is decided anew is a request by itself, which nobody sent.
    { org_id: orgId, request_id: resumed, batch_id: resumed, decided_at: start + 3000 },
  )
  const all = await listDecidedRequests(pool, { orgId, types, most: 10 })
  expect(
    all.map(({ requestId, batches, decided, accepted, refused }) => [requestId, batches, decided, accepted, refused]),
  ).toEqual([
    [third, 1, 1, 0, 1],
    [second, 2, 1, 5, 0],
    [first, 2, 2, 3, 1],
  ])
  const [, middle] = all
  const after = middle && { at: middle.at, requestId: middle.requestId }
  expect((await listDecidedRequests(pool, { orgId, types, after, most: 1 })).map(({ requestId }) => requestId)).toEqual(
    [first],
  )
  expect(await listDecidedRequests(pool, { orgId, types: ['interactions'], most: 1 })).toEqual([])
  expect(await listDecidedRequests(pool, { orgId: 'nobody', types, most: 1 })).toEqual([])

  const noted = {
    type: 'shops',
    bodySha256: Buffer.alloc(32),
    batchRecords: [500, 3],
    lanes: 1,
    submittedAt: start,
    written: null,
  }
  const pending = randomUUID()
  await saveRequests(pool, [
    { ...noted, requestId: pending, orgId },
    { ...noted, requestId: second, orgId },
    { ...noted, requestId: randomUUID(), orgId: 'other' },
  ])
  expect(await listPendingRequests(pool, { orgId, types, most: 10 })).toEqual([
    {
      requestId: pending,
      type: 'shops',
      at: new Date(start),
      batches: 2,
      decided: 0,
      accepted: 0,
      refused: 0,
      waiting: 0,
      undecided: 0,
      records: 503,
    },
  ])
})

it('counts records that wait: when they begin to, and in the list of requests as things stand now', async () => {
  const orgId = 'waiter'
  const [request, batch, resumed] = [randomUUID(), randomUUID(), randomUUID()]
  const waiting = Array.from({ length: 5 }, (_, index) => ({ index, id: randomUUID(), for: [], until: start + 60_000 }))
  await store(
    { org_id: orgId, request_id: request, batch_id: batch, accepted: 2, refused: [refused(7)], waiting },
    // Decided anew: one is accepted, another goes on waiting.
    { org_id: orgId, request_id: resumed, batch_id: resumed, accepted: 1, waiting: waiting.slice(4) },
  )
  const from = new Date(start)
  const counted = await countDecided(pool, { orgId, types, from, until: new Date(start + 5000), seconds: 5 })
  expect(counted).toEqual([{ at: from, type: 'shops', accepted: 3, refused: 1, waiting: 5 }])
  const since = await findDecidedSince(pool, { orgId, types, since: from, most: 10 })
  expect(new Map(since.map((one) => [one.batchId, one.waiting]))).toEqual(
    new Map([
      [batch, 5],
      [resumed, 0],
    ]),
  )
  for (const [place, state] of (['accepted', 'refused', 'superseded', 'cancelled', 'waiting'] as const).entries())
    await insertWait(pool, { org: orgId, type: 'shops', batchId: batch, place, requestId: request, state })
  expect(await listDecidedRequests(pool, { orgId, types, most: 10 })).toMatchObject([
    { requestId: request, accepted: 3, refused: 2, waiting: 1, undecided: 2 },
  ])
  expect([await countWaitingUpTo(pool, orgId, 10), await countWaitingUpTo(pool, 'nobody', 10)]).toEqual([1, 0])
})

it('finds what has an id, of one organisation', async () => {
  const orgId = 'finder'
  const [request, batch, record, both] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  await store({ org_id: orgId, request_id: request, batch_id: batch, type: 'tags' })
  await store({ org_id: orgId, request_id: both, type: 'tags' })
  await inTransaction(pool, (connection) =>
    insertEntities(connection, [
      { orgId, type: 'shops', id: record },
      { orgId, type: 'tags', id: record },
      { orgId, type: 'shops', id: both },
      { orgId: 'stranger', type: 'shops', id: request },
    ]),
  )
  const find = (id: string, org = orgId) => findThings(pool, { orgId: org, id, types })
  expect(await find(request)).toEqual([{ kind: 'request', type: 'tags', requestId: null }])
  expect(await find(batch)).toEqual([{ kind: 'batch', type: 'tags', requestId: request }])
  expect((await find(record)).map(({ kind, type }) => [kind, type])).toEqual([
    ['record', 'shops'],
    ['record', 'tags'],
  ])
  expect((await find(both)).map(({ kind }) => kind)).toEqual(['record', 'request'])
  expect(await find(batch, 'stranger')).toEqual([])
  expect(await find(randomUUID())).toEqual([])
})
