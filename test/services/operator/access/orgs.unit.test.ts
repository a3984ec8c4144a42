import { expect, it } from 'vitest'
import { readLimit, writeLimit } from '../../../../services/operator/access/orgs.js'

it('reads a limit as a whole number, or as the default', () => {
  expect(['0', '50', '2147483647', 'default'].map(readLimit)).toEqual([0, 50, 2_147_483_647, null])
  for (const bad of ['', '-1', '1.5', '1e3', 'many', '2147483648']) {
    expect(() => readLimit(bad)).toThrow(`"${bad}" is not a limit`)
  }
})

it('writes it for people', () => expect([null, 0, 50].map(writeLimit)).toEqual(['default', 'no limit', '50']))
