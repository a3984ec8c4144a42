import { expect, it } from 'vitest'
import { placeOf } from '#platform/kafka/partitions.js'
import { tag } from '#schemas/records/tag.js'
import { checkRows } from '../../../../../services/operator/verify/checks/check-rows.js'
import type { KeyState } from '../../../../../services/operator/verify/key-states.js'
import { createFakeSubject } from '../fake-subject.js'

const stretch = { topic: 'weir.accepted.tags', partition: 1, from: 0, until: 10 }
const place = placeOf(stretch)
const key = 'acme/3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b'

/** One key whose newest event, of version 16384, stands at offset 5. */
const check = async (rows: { recent?: number; old?: number }, written = 10) => {
  const system = createFakeSubject({ types: [tag] })
  if (rows.recent !== undefined) system.rows.recent.set(key, rows.recent)
  if (rows.old !== undefined) system.rows.old.set(key, rows.old)
  const state: KeyState = { last: 16384, highest: 16384, highestAt: 5 }
  let readOn = 0
  await checkRows(
    system.subject,
    [stretch],
    new Map([[place, new Map([[key, state]])]]),
    new Map([[place, written]]),
    async () => {
      readOn++
    },
  )
  const { keys, rows: found, inFlight } = system.countsOf(tag)
  return { found: system.found(), counts: [keys, found, inFlight], readOn, state }
}

it('counts a row that is as new as the newest event', async () => {
  expect(await check({ recent: 16384 })).toMatchObject({ found: [], counts: [1, 1, 0], readOn: 0 })
})

it('finds a row that was accepted before the range by its key', async () => {
  expect(await check({ old: 16384 })).toMatchObject({ found: [], counts: [1, 1, 0] })
})

it.each([
  [{}, 'no row'],
  [{ recent: 8192 }, 'its row has version 8192, its newest event 16384'],
])('misses the row of an event that the sink has written: %j', async (rows, found) => {
  expect(await check(rows)).toMatchObject({ found: [['row_missing', `${place} ${key}`, found]], counts: [1, 0, 0] })
})

it.each([{}, { recent: 8192 }])('waits for the row of an event that the sink has not written: %j', async (rows) => {
  expect(await check(rows, 5)).toMatchObject({ found: [], counts: [1, 0, 1] })
})

it('reads on where a row is newer than every event that was read', async () => {
  expect(await check({ recent: 24576 })).toMatchObject({ found: [], readOn: 1, state: { row: 24576 } })
})

it('has no opinion on rows of keys that are not on the topic', async () => {
  const system = createFakeSubject({ types: [tag] })
  system.rows.recent.set('acme/alien', 8192)
  await checkRows(system.subject, [stretch], new Map([[place, new Map()]]), new Map(), async () => {})
  expect(system.found()).toEqual([])
  expect(system.countsOf(tag)).toMatchObject({ keys: 0, rows: 0 })
})
