import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createImportSlots } from '../../../../services/edge/imports/bounds.js'
import { createPieces } from '../../../../services/edge/imports/pieces.js'

it('has a bound for all imports and one for those of an organisation, and counts none twice', () => {
  const take = createImportSlots(8)
  const isTaken = (org: string) => !('error' in take(org))
  const first = take('a')
  expect([isTaken('a'), isTaken('a'), isTaken('b'), isTaken('b'), isTaken('b')]).toEqual([
    true,
    false,
    true,
    true,
    false,
  ])
  expect(take('a')).toMatchObject({ error: { status: 429, message: expect.stringContaining('2 imports under way') } })
  expect(['c', 'c', 'd', 'd', 'e'].map(isTaken)).toEqual([true, true, true, true, false])
  expect(take('e')).toMatchObject({ error: { status: 503 } })
  if ('error' in first) throw new Error('there was no room')
  first.leave()
  first.leave()
  expect([isTaken('e'), isTaken('f')]).toEqual([true, false])
})

/** A body of which `bytes` come each 20 ms. */
const dripping = (bytes: number): Readable =>
  Readable.from(
    (async function* () {
      for (;;) {
        await sleep(20)
        yield Buffer.alloc(bytes)
      }
    })(),
  )
const piecesOf = (body: Readable) =>
  createPieces(body, {
    isGzipped: false,
    within: 1_000,
    leastRate: 10_000_000,
    signal: new AbortController().signal,
  })

it('ends a body that comes too slowly, though it never stops', async () => {
  const nextPiece = piecesOf(dripping(65_536))
  const readAll = async () => {
    for (;;) await nextPiece()
  }
  await expect(readAll()).rejects.toThrow('came too slowly: less than 10000000 bytes a second over 1 s')
})

it('does not count the time that its reader takes', async () => {
  const nextPiece = piecesOf(dripping(4_000_000))
  for (let n = 0; n < 5; n++) {
    expect((await nextPiece()).isLast).toBe(false)
    await sleep(600)
  }
})
