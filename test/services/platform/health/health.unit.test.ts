import { expect, it } from 'vitest'
import { type Readiness, shareForASecond, shareReadiness } from '#platform/health/health.js'

it('gives one answer to all who ask while it is made and within a second, then another', async () => {
  let now = 0
  let made = 0
  let finish = () => {}
  const ask = shareForASecond(
    () =>
      new Promise<number>((resolve) => {
        const answer = ++made
        finish = () => resolve(answer)
      }),
    () => now,
  )
  const first = [ask(), ask()]
  now = 3_000
  first.push(ask())
  finish()
  expect(await Promise.all(first)).toEqual([1, 1, 1])
  const second = ask()
  finish()
  now = 3_999
  expect([await second, await ask()]).toEqual([2, 2])
  now = 4_000
  const third = ask()
  finish()
  expect(await third).toBe(3)
})

it('shares a failure too, and tries again after it', async () => {
  let now = 0
  const ask = shareForASecond(
    async () => {
      throw new Error(`at ${now}`)
    },
    () => now,
  )
  const both = [ask(), ask()]
  for (const one of both) await expect(one).rejects.toThrow('at 0')
  now = 1_000
  await expect(ask()).rejects.toThrow('at 1000')
})

it('tells soon that something has become ready', async () => {
  let now = 0
  let status: Readiness['status'] = 'not_ready'
  const ask = shareReadiness(
    async () => ({ status, parts: {} }),
    () => now,
  )
  expect((await ask()).status).toBe('not_ready')
  status = 'ready'
  now = 99
  expect((await ask()).status).toBe('not_ready')
  now = 100
  expect((await ask()).status).toBe('ready')
  status = 'not_ready'
  now = 1_099
  expect((await ask()).status).toBe('ready')
  now = 1_100
  expect((await ask()).status).toBe('not_ready')
})
