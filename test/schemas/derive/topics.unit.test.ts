import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { inSyncOf, topicsOf } from '#schemas/derive/topics.js'

it('wants two copies of what was acknowledged wherever there are two, and more than half of more', () => {
  expect([1, 2, 3, 4, 5].map(inSyncOf)).toEqual([1, 2, 2, 3, 3])
})

it('lets no replica lead that lacks acknowledged messages', () => {
  for (const { name, config } of topicsOf(catalogue))
    expect(config['unclean.leader.election.enable'], name).toBe('false')
})
