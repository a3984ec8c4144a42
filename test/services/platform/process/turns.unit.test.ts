import { setImmediate as nextRound } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTurns } from '#platform/process/turns.js'

const patient = 60_000

it('reads one body at a time, the organisations by turns', async () => {
  const { take } = createTurns(() => true, patient)
  const order: string[] = []
  const body = (org: string, n: number) =>
    take(org, async () => {
      order.push(`${org}${n} begins`)
      await nextRound()
      order.push(`${org}${n} ends`)
    })
  await Promise.all([body('a', 1), body('a', 2), body('a', 3), body('b', 1), body('c', 1), body('b', 2)])
  const begun = order.filter((line) => line.endsWith('begins')).map((line) => line.slice(0, 2))
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
  expect(order).toEqual(begun.flatMap((name) => [`${name} begins`, `${name} ends`]))
})

it('serves whoever came meanwhile before the next body', async () => {
  const { take } = createTurns(() => true, patient)
  const order: string[] = []
  const first = take('a', async () => {
    order.push('a1')
    setImmediate(() => order.push('something small'))
  })
  await Promise.all([first, take('a', async () => order.push('a2'))])
  expect(order).toEqual(['a1', 'something small', 'a2'])
})

it('passes over those who may not go on, until they may', async () => {
  const barred = new Set(['a'])
  const { take, wake } = createTurns((org) => !barred.has(org), patient)
  const order: string[] = []
  const waiting = take('a', async () => order.push('a'))
  await take('b', async () => order.push('b'))
  await nextRound()
  expect(order).toEqual(['b'])
  barred.clear()
  wake()
  await waiting
  expect(order).toEqual(['b', 'a'])
})

it('gives up on a body whose turn does not come, and goes on after one that fails', async () => {
  let may = false
  const { take } = createTurns(() => may, 1)
  const late = take('a', async () => 'read')
  expect(await late).toBeUndefined()
  may = true
  await expect(
    take('a', async () => {
      throw new Error('broken')
    }),
  ).rejects.toThrow('broken')
  expect(await take('a', async () => 'read')).toBe('read')
})
