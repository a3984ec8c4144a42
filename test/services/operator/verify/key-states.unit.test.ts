import { expect, it } from 'vitest'
import { idOf, type KeyState, orgOf, seeVersion } from '../../../../services/operator/verify/key-states.js'

it('keeps the last version and the highest apart, and where the highest came first', () => {
  const states = new Map<string, KeyState>()
  for (const [version, offset] of [
    [8192, 3],
    [16384, 5],
    [8192, 6],
    [16384, 9],
    [8192, 12],
  ] as const)
    seeVersion(states, 'acme/1', version, offset)
  expect(states.get('acme/1')).toEqual({ last: 8192, highest: 16384, highestAt: 5 })
})

it('takes a key apart at its first slash', () => {
  expect([orgOf('acme/1/2'), idOf('acme/1/2')]).toEqual(['acme', '1/2'])
  expect(orgOf('no slash')).toBe('')
})
