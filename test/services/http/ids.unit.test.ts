import { expect, it } from 'vitest'
import { newId } from '#http/ids.js'
import { batchIdOf, isUuid, keyedInteractionId, keyedRequestId } from '#schemas/uuid.js'

it('derives the same id from the same facts, and another from others', () => {
  const ids = [
    keyedRequestId('acme', '/v1/data/shops', 'k'),
    keyedRequestId('acme', '/v1/data/tags', 'k'),
    keyedRequestId('other', '/v1/data/shops', 'k'),
    keyedRequestId('a', 'bc', 'd'),
    keyedRequestId('ab', 'c', 'd'),
    keyedInteractionId('acme', 'k'),
    batchIdOf('r', 0, 500),
    batchIdOf('r', 0, 499),
    batchIdOf('r', 500, 500),
  ]
  expect(new Set(ids).size).toBe(ids.length)
  expect(keyedRequestId('acme', '/v1/data/shops', 'k')).toBe(ids[0])
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

it('gives new ids in the order of time', () => {
  const ids = Array.from({ length: 100 }, newId)
  expect([...ids].sort()).toEqual(ids)
  expect(ids.every(isUuid)).toBe(true)
})
