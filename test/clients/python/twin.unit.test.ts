import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { asyncTwinOf } from '../../../deploy/python-twin.js'

const sourceOf = (name: string) =>
  readFileSync(new URL(`../../../clients/python/src/weir_client/${name}`, import.meta.url), 'utf8')

it('has committed the client for asyncio that is made from the other; if not: npm run publish-schemas', () => {
  expect(sourceOf('aio.py')).toBe(asyncTwinOf(sourceOf('client.py')))
})
