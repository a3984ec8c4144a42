import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createIdGate, createInFlight } from '../../../clients/typescript/src/index.js'

it('halves once for a burst of refusals, and grows back by one in a round', async () => {
  const places = createInFlight({ most: 8 })
  const first = await Promise.all(Array.from({ length: 8 }, () => places.enter()))
  for (const place of first) place.busy()
  expect(places.limit()).toBe(4)
  // The next attempt of one of them is refused as well.
  first[0]?.busy()
  expect(places.limit()).toBe(2)
  for (const place of first) place.leave(false)
  expect(places.limit()).toBe(2)
  for (const expected of [2, 3, 3, 3, 4]) {
    const place = await places.enter()
    place.leave(true)
    expect(places.limit()).toBe(expected)
  }
  for (let i = 0; i < 100; i += 1) (await places.enter()).leave(true)
  expect(places.limit()).toBe(8)
})

it('admits no more than its limit, in the order of arrival, and forgets who gave up', async () => {
  const places = createInFlight({ most: 1 })
  const first = await places.enter()
  const controller = new AbortController()
  const reason = new Error('enough')
  const gone = places.enter(controller.signal)
  const order: number[] = []
  const second = places.enter().then((place) => {
    order.push(2)
    return place
  })
  const third = places.enter().then((place) => {
    order.push(3)
    return place
  })
  controller.abort(reason)
  await expect(gone).rejects.toBe(reason)
  await expect(places.enter(controller.signal)).rejects.toBe(reason)
  first.leave(true)
  first.leave(true)
  ;(await second).leave(true)
  ;(await third).leave(true)
  expect(order).toEqual([2, 3])
})

it('never lets two requests with one id in at once, and keeps their order', async () => {
  const anyIds = fc.array(fc.constantFrom('a', 'b', 'c', 'A', 'd', 'e'), { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(fc.array(anyIds, { maxLength: 12 }), fc.scheduler(), async (requests, scheduler) => {
      const gate = createIdGate()
      const inside = new Map<string, number>()
      const seen = new Map<string, number[]>()
      const work = requests.map(async (ids, number) => {
        const turn = gate.enter(ids)
        // Some give up before their turn: nothing may overtake through the gap.
        if (number % 5 === 4) return turn.leave()
        await turn.ready
        for (const id of new Set(ids.map((id) => id.toLowerCase()))) {
          expect(inside.get(id)).toBeUndefined()
          inside.set(id, number)
          seen.set(id, [...(seen.get(id) ?? []), number])
        }
        await scheduler.schedule(Promise.resolve())
        for (const id of ids) inside.delete(id.toLowerCase())
        turn.leave()
      })
      await scheduler.waitFor(Promise.all(work))
      for (const numbers of seen.values()) expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
    }),
  )
})
