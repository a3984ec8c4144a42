import { expect, it } from 'vitest'
import { createLastUse } from '../../../../services/edge/keys/last-use.js'
import { silent } from '../edge.js'

it('writes the last use of keys down once a minute, all at once, and never fails', async () => {
  const written: string[][] = []
  const clock = { ms: 0 }
  const postgres = { isAway: false }
  const { note, flush } = createLastUse({
    write: async (ids) => {
      if (postgres.isAway) throw new Error('connection refused')
      written.push([...ids])
    },
    now: () => clock.ms,
    log: silent,
  })
  for (const id of ['a', 'b', 'a']) note(id)
  await flush()
  note('a')
  await flush()
  expect(written).toEqual([['a', 'b']])
  clock.ms = 60_000
  note('a')
  postgres.isAway = true
  await flush()
})
