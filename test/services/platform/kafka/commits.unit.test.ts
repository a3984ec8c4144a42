import { afterEach, expect, it, vi } from 'vitest'
import { createCommits, type Done } from '#platform/kafka/commits.js'
import { silent } from '../../edge/edge.js'

afterEach(() => void vi.useRealTimers())

/** Commits that a test answers one by one. */
const create = () => {
  const asked: { all: Done[]; resolve: () => void; reject: (error: Error) => void }[] = []
  const commit = (all: Done[]) => new Promise<void>((resolve, reject) => asked.push({ all, resolve, reject }))
  return { ...createCommits({ commit, log: silent }), asked }
}
const done = (offset: number, partition = 0): Done => ({ topic: 't', partition, offset })
const settled = () => new Promise<void>((resolve) => void setImmediate(resolve))

it('tells at once what is done, and what is done meanwhile together, the furthest of each partition', async () => {
  const { add, asked } = create()
  add(done(1))
  add(done(2))
  add(done(7, 1))
  add(done(3))
  expect(asked.map(({ all }) => all)).toEqual([[done(1)]])
  asked[0]?.resolve()
  await settled()
  expect(asked.slice(1).map(({ all }) => all)).toEqual([[done(3), done(7, 1)]])
})

it('has ended when Kafka has been told all of it', async () => {
  const { add, ended, asked } = create()
  await ended()
  add(done(1))
  add(done(2))
  let isOver = false
  const over = ended().then(() => {
    isOver = true
  })
  asked[0]?.resolve()
  await settled()
  expect(isOver).toBe(false)
  asked[1]?.resolve()
  await over
})

it('tries again what failed, unless more was done since, and does not keep anybody waiting', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const { add, ended, asked } = create()
  add(done(1))
  add(done(5, 1))
  asked[0]?.reject(new Error('the coordinator moves'))
  await ended()
  add(done(2))
  await settled()
  expect(asked[1]?.all).toEqual([done(2), done(5, 1)])
  asked[1]?.reject(new Error('the coordinator moves'))
  await ended()
  vi.advanceTimersByTime(1000)
  await settled()
  expect(asked[2]?.all).toEqual([done(2), done(5, 1)])
})

it('leaves to the next owner what was not committed when the group changed', async () => {
  const { add, forget, ended, asked } = create()
  add(done(1))
  add(done(2))
  forget()
  asked[0]?.reject(new Error('not a member any more'))
  await ended()
  add(done(9, 3))
  expect(asked.slice(1).map(({ all }) => all)).toEqual([[done(9, 3)]])
})
