import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { forgottenOf, lockCursor, moveCursor } from '#ledger/cursors.js'
import type { Committed } from '#platform/kafka/committed-offsets.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { createPostgresMemory, findWalPlace } from '../../../services/integrity/postgres-memory.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'

const { pool } = await openMigratedDatabase()

/** A partition that is decided and published up to 10, and what integrity holds of Postgres. */
const openMemory = async () => {
  const at = { topic: `weir.submitted.${randomUUID()}`, partition: 3 }
  const decideUntil = (next: number) =>
    inTransaction(pool, async (connection) => {
      await lockCursor(connection, at)
      await moveCursor(connection, at, { next, replayedFrom: null })
    })
  await decideUntil(10)
  const committed: Committed[] = [{ ...at, offset: 10 }]
  const behind: number[] = []
  const memory = createPostgresMemory({
    pool,
    committed: async () => committed,
    counted: (partitions) => void behind.push(partitions),
    log: pino({ level: 'silent' }),
  })
  return { at, decideUntil, committed, behind, memory }
}

it('lets decide what Postgres knows as far as it was published, and stops everything where it does not', async () => {
  const { at, decideUntil, behind, memory } = await openMemory()
  expect(memory.refuseUnsure).toThrow('what it knows is looked at first')
  await memory.mayDecide()
  memory.refuseUnsure()
  await decideUntil(8)
  // Nothing says that this is another Postgres: it is looked at every few seconds.
  await memory.mayDecide()
  const connection = await pool.connect()
  const here = await findWalPlace(connection)
  connection.release()
  expect(here?.timeline).toMatch(/^[0-9A-F]{8}$/)
  await memory.onConnect(over(here, {}))
  memory.refuseUnsure()
  await memory.onConnect(over(here, { timeline: '00000002' }))
  expect(memory.refuseUnsure).toThrow('what it knows is looked at first')
  await expect(memory.mayDecide()).rejects.toThrow(
    `Postgres went back to an earlier state: ${at.topic}/3 was decided and published up to offset 10, and Postgres knows it up to 8. ` +
      'Nothing is decided until that is mended: see "Postgres went back" in docs/runbook.md',
  )
  expect(memory.check).toThrow('went back')
  expect(behind).toEqual([0, 1])
})

it('knows a Postgres that was emptied on purpose from one that forgot a partition altogether', () => {
  const published = { topic: 'weir.submitted.shops', partition: 4, offset: 7 }
  const later = { topic: 'weir.submitted.shops.g1', partition: 4, offset: 2 ** 36 }
  expect(forgottenOf([published, later], new Map())).toEqual([])
  expect(forgottenOf([published, later], new Map([['weir.submitted.shops/1', 3]]))).toEqual([
    { place: 'weir.submitted.shops/4', known: 0, published: 7 },
  ])
})

it('is unsure of a Postgres that is behind where it was, and sure of one that is ahead', async () => {
  const { memory } = await openMemory()
  const here = { timeline: '00000001', position: 1000 }
  await memory.onConnect(over(here, {}))
  await memory.mayDecide()
  await memory.onConnect(over(here, { position: 2000 }))
  memory.refuseUnsure()
  await memory.onConnect(over(here, { position: 1500 }))
  expect(memory.refuseUnsure).toThrow('what it knows is looked at first')
  await memory.mayDecide()
  memory.refuseUnsure()
})

it('goes on with a Postgres that does not tell where it is', async () => {
  const { memory } = await openMemory()
  await memory.mayDecide()
  await memory.onConnect({
    query: () => Promise.reject(new Error('WAL control functions cannot be executed')),
  } as never)
  memory.refuseUnsure()
})

/** A connection to a Postgres that is somewhere else. */
const over = (here: object | undefined, other: object) =>
  ({ query: async () => ({ rows: [{ ...here, ...other }] }) }) as never
