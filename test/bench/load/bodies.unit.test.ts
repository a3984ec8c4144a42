import { describe, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { createValidator } from '#schemas/derive/validator.js'
import { createReferencesOf } from '#schemas/record.js'
import {
  createBody,
  createInteractionBody,
  idLength,
  type Known,
  lastIdOf,
  newIds,
  renew,
  shopIdsOf,
  writeIds,
} from './bodies.js'

const known: Known = new Map([...catalogue.uploads.keys()].map((type) => [type, newIds(50)]))
const isKnown = (type: string, id: string): boolean => (known.get(type)?.indexOf(id) ?? -1) % idLength === 0
const recordsIn = (bytes: Buffer): Record<string, unknown>[] => JSON.parse(String(bytes)).records

describe.each([...catalogue.uploads.values()])('a body of $type', (type) => {
  const validate = createValidator(type)
  const referencesOf = createReferencesOf(type)

  it('holds valid records with new ids and known references, each time anew', () => {
    const body = createBody(type, 40)
    const seen = new Set<unknown>()
    for (let times = 0; times < 5; times++) {
      renew(body, known)
      for (const record of recordsIn(body.bytes)) {
        expect(validate(record)).not.toHaveProperty('problems')
        expect(referencesOf(record as never).filter(({ type: to, id }) => !isKnown(to, id))).toEqual([])
        seen.add(record[type.id])
      }
      expect(lastIdOf(body)).toBe(recordsIn(body.bytes).at(-1)?.[type.id])
    }
    expect(seen.size).toBe(5 * 40)
  })

  it('holds as many records that will be refused as it says', () => {
    const body = createBody(type, 100, 2)
    renew(body, known)
    const refused = recordsIn(body.bytes).filter(
      (record) =>
        'problems' in validate(record) || referencesOf(record as never).some(({ type: to, id }) => !isKnown(to, id)),
    )
    expect(refused).toHaveLength(2)
    expect(body.refused).toBe(2)
  })
})

it('has some records refer to new shops, others each time', () => {
  const transaction = catalogue.uploads.get('transactions')
  if (!transaction) throw new Error('there are no transactions')
  const body = createBody(transaction, 100, 0, 10)
  const shopsOf = () => {
    renew(body, known)
    const ids = shopIdsOf(body).toString('latin1')
    return Array.from({ length: 10 }, (_, n) => ids.slice(n * idLength, (n + 1) * idLength))
  }
  const first = shopsOf()
  const unknown = recordsIn(body.bytes).filter(({ shop_id }) => !isKnown('shops', String(shop_id)))
  expect(unknown.map(({ shop_id }) => shop_id)).toEqual(first)
  expect(new Set([...first, ...shopsOf()]).size).toBe(20)
})

it('writes given ids into the records', () => {
  const shop = catalogue.uploads.get('shops')
  if (!shop) throw new Error('there are no shops')
  const [body, list] = [createBody(shop, 3), newIds(10)]
  writeIds(body, list, 4)
  const given = [4, 5, 6].map((n) => list.toString('latin1', n * idLength, (n + 1) * idLength))
  expect(recordsIn(body.bytes).map(({ shop_id }) => shop_id)).toEqual(given)
})

it('makes interactions with a shop that is there', () => {
  const body = createInteractionBody(catalogue.interaction)
  renew(body, known)
  const interaction = JSON.parse(String(body.bytes))
  expect(createValidator(catalogue.interaction)(interaction)).not.toHaveProperty('problems')
  expect(isKnown('shops', interaction.item_id)).toBe(true)
  expect(isKnown('customers', interaction.student_id)).toBe(true)
})
