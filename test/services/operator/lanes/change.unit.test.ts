import { expect, it } from 'vitest'
import type { Generation } from '#ledger/layout/layout.js'
import { nextLayout } from '../../../../services/operator/lanes/change.js'

const first: Generation = {
  generation: 0,
  lanes: 1,
  submittedPartitions: 4,
  acceptedPartitions: 4,
  state: 'open',
  ends: {},
}

it('is one more generation, as wide as it is asked for', () => {
  expect(nextLayout([first], { lanes: 4, partitions: undefined })).toEqual({
    ...first,
    generation: 1,
    lanes: 4,
    state: 'coming',
  })
  expect(nextLayout([first], { lanes: 6, partitions: undefined })).toMatchObject({ lanes: 6, submittedPartitions: 6 })
  expect(nextLayout([first], { lanes: 1, partitions: 12 })).toMatchObject({ lanes: 1, submittedPartitions: 12 })
  const finished: Generation = { ...first, state: 'finished' }
  const second: Generation = { ...first, generation: 1, lanes: 4 }
  // One that was announced and never opened is replaced.
  const left: Generation = { ...first, generation: 2, lanes: 8, state: 'coming' }
  expect(nextLayout([finished, second, left], { lanes: 2, partitions: 8 })).toMatchObject({ generation: 2, lanes: 2 })
})

it.each<[string, Generation[], { lanes: number; partitions: number | undefined }]>([
  ['not provisioned yet', [], { lanes: 4, partitions: undefined }],
  ['there are 1 lanes and 4 partitions already: nothing was changed', [first], { lanes: 1, partitions: undefined }],
  ['8 lanes need as many partitions: --partitions 8 or more', [first], { lanes: 8, partitions: 4 }],
  ['256 lanes and 1000 partitions at the most', [first], { lanes: 257, partitions: undefined }],
  [
    'not yet decided all that was sent before the last change',
    [
      { ...first, state: 'closed' },
      { ...first, generation: 1, lanes: 4 },
    ],
    { lanes: 2, partitions: undefined },
  ],
  ['no room for another change', [{ ...first, generation: 15 }], { lanes: 2, partitions: undefined }],
])('refuses: %s', (message, generations, wish) => {
  expect(() => nextLayout(generations, wish)).toThrow(message)
})
