import { statfs } from 'node:fs/promises'
import { afterAll, expect, it } from 'vitest'
import { untilRoom } from '../../../../deploy/embedded/clickhouse/full-disk.js'
import { eventually } from '../../../support/eventually.js'
import { diskOrSkip, openSmallDisk } from '../../../support/small-disk.js'

const disk = await openSmallDisk(64)
afterAll(() => ('close' in disk ? disk.close() : undefined))

it('does not begin on a full disk, says so once, and begins when there is room', async (test) => {
  const own = diskOrSkip(disk, test)
  const told: number[] = []
  await untilRoom(own.dataDir, (free) => told.push(free))
  expect(told).toEqual([])
  own.fill()
  await eventually(async () => expect((await statfs(own.dataDir)).bavail).toBe(0))
  let isThere = false
  const waiting = untilRoom(own.dataDir, (free) => told.push(free)).then(() => {
    isThere = true
  })
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  expect([isThere, told.length]).toEqual([false, 1])
  await own.free()
  await waiting
})
