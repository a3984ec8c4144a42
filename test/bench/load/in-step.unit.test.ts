import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createInStep } from './in-step.js'

it('lets nobody be more than two requests ahead, and waits for nobody who has ended', async () => {
  const inStep = createInStep(3)
  const begun = [0, 0, 0]
  const send = (number: number) =>
    inStep.next(number).then(() => {
      begun[number] = (begun[number] ?? 0) + 1
    })
  for (let n = 0; n < 4; n++) void send(0)
  await nextTurn()
  expect(begun).toEqual([2, 0, 0])
  void send(1)
  await nextTurn()
  expect(begun).toEqual([2, 1, 0])
  void send(2)
  await nextTurn()
  expect(begun).toEqual([3, 1, 1])
  inStep.end(1)
  inStep.end(2)
  await nextTurn()
  expect(begun).toEqual([4, 1, 1])
})
