import { expect, it } from 'vitest'
import type { NotedRequest } from '#ledger/requests.js'
import { createRequestNotes } from '../../../../services/edge/requests/notes.js'
import { silent } from '../edge.js'
import { createFakeVerdictStore } from '../fakes/verdict-store.fake.js'

const requestOf = (requestId: string, over: Partial<NotedRequest> = {}): NotedRequest => ({
  requestId,
  orgId: 'acme',
  type: 'shops',
  bodySha256: Buffer.alloc(32),
  batchRecords: [500, 100],
  lanes: 1,
  submittedAt: 0,
  written: null,
  ...over,
})

const create = () => {
  const store = createFakeVerdictStore()
  const clock = { ms: 0 }
  const saved: string[][] = []
  const notes = createRequestNotes({
    saveRequests: (requests) => {
      saved.push(requests.map(({ requestId, written }) => `${requestId} ${written}`))
      return store.saveRequests(requests)
    },
    now: () => clock.ms,
    log: silent,
  })
  const tickAt = async (ms: number) => {
    clock.ms = ms
    await notes.tick()
  }
  return { store, saved, notes, tickAt }
}

it('saves what waits for a second, all in one statement, and nothing that is decided before', async () => {
  const { notes, saved, tickAt } = create()
  notes.open(requestOf('a'))
  notes.open(requestOf('b')).close(true)
  notes.open(requestOf('c')).written(2)
  await tickAt(999)
  expect(saved).toEqual([])
  await tickAt(1000)
  expect(saved).toEqual([['a null', 'c 2']])
  await tickAt(5000)
  expect(saved).toHaveLength(1)
})

it('saves again how much was written, also when that is known only after the answer, and then forgets', async () => {
  const { notes, saved, tickAt } = create()
  const note = notes.open(requestOf('a'))
  await tickAt(1000)
  note.close(false)
  await tickAt(2000)
  expect(saved).toEqual([['a null']])
  note.written(0)
  await tickAt(2200)
  await tickAt(2400)
  expect(saved).toEqual([['a null'], ['a 0']])
})

it('tries again a second later while Postgres is away, for ten minutes', async () => {
  const { notes, saved, store, tickAt } = create()
  store.isAway = true
  notes.open(requestOf('a')).written(2)
  await tickAt(1000)
  await tickAt(1200)
  expect(saved).toHaveLength(1)
  store.isAway = false
  await tickAt(2000)
  expect(saved).toEqual([['a 2'], ['a 2']])

  store.isAway = true
  notes.open(requestOf('b')).close(false)
  await tickAt(602_001)
  store.isAway = false
  await tickAt(700_000)
  expect(store.requests.has('b')).toBe(false)
})

it('saves one of two that have the same id, and the other one the next time', async () => {
  const { notes, saved, tickAt } = create()
  notes.open(requestOf('a'))
  notes.open(requestOf('a')).written(2)
  await tickAt(1000)
  await tickAt(1200)
  expect(saved).toEqual([['a null'], ['a 2']])
})

it('saves at once where it is asked to, and says whose key it was', async () => {
  const { notes, saved, store, tickAt } = create()
  const note = notes.open(requestOf('a'))
  expect(await note.save()).toBe(true)
  expect(await notes.open(requestOf('a', { bodySha256: Buffer.alloc(32, 1) })).save()).toBe(false)
  note.written(2)
  note.close(false)
  await tickAt(200)
  expect(saved).toEqual([['a null'], ['a null'], ['a 2']])

  store.isAway = true
  await expect(notes.open(requestOf('b')).save()).rejects.toThrow('away')
  store.isAway = false
  await tickAt(5000)
  expect(store.requests.has('b')).toBe(false)
})
