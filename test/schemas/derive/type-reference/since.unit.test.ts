import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { recordSchema } from '#schemas/derive/openapi/record-schema.js'
import { fieldVersionsOf, sinceOf } from '#schemas/derive/type-reference/since.js'
import { typeReferencesOf } from '#schemas/derive/type-reference/type-reference.js'
import { shop } from '#schemas/records/shop.js'

const [first, second, third] = [
  { version: '0.1.0', fields: { shops: ['shop_id', 'name', 'colour'] } },
  { version: '0.2.0', fields: { shops: ['shop_id', 'name', 'region'] } },
  { version: '0.10.0', fields: { shops: ['shop_id', 'name', 'region', 'colour'], flags: ['flag_id'] } },
] as const

it('says nothing of any field before the first release, nor of those that every release has had', () => {
  expect(sinceOf(fieldVersionsOf([]), 'shops', 'shop_id')).toBeUndefined()
  for (const releases of [[first], [first, second, third]])
    expect(sinceOf(fieldVersionsOf(releases), 'shops', 'name')).toBeUndefined()
})

it('names the version that a field came with, also with a type that was not there, and marks what is in none yet', () => {
  const versions = fieldVersionsOf([first, second, third])
  expect(sinceOf(versions, 'shops', 'region')).toBe('0.2.0')
  expect(sinceOf(versions, 'flags', 'flag_id')).toBe('0.10.0')
  expect(sinceOf(versions, 'shops', 'size')).toBeNull()
  expect(sinceOf(versions, 'coupons', 'coupon_id')).toBeNull()
  expect(sinceOf(fieldVersionsOf([first]), 'shops', 'region')).toBeNull()
})

it('counts a field that was gone for a while from when it came back', () => {
  expect(sinceOf(fieldVersionsOf([first, second]), 'shops', 'colour')).toBeNull()
  expect(sinceOf(fieldVersionsOf([first, second, third]), 'shops', 'colour')).toBe('0.10.0')
})

it('stands in what people read about a type, and in the HTTP reference', () => {
  const of = Object.fromEntries([...catalogue.all].map(([name, { fields }]) => [name, Object.keys(fields)]))
  const shops = Object.keys(shop.fields)
  const releases = [
    { version: '0.1.0', fields: { ...of, shops: shops.filter((name) => !['region', 'is_public'].includes(name)) } },
    { version: '0.2.0', fields: { ...of, shops: shops.filter((name) => name !== 'is_public') } },
  ]
  const versions = fieldVersionsOf(releases)
  const read = typeReferencesOf(catalogue, 'http://127.0.0.1:8080', versions).find(({ type }) => type === 'shops')
  expect(read?.fields.flatMap(({ name, since }) => (since === undefined ? [] : [[name, since]]))).toEqual([
    ['region', '0.2.0'],
    ['is_public', null],
  ])
  const { properties } = recordSchema(shop, versions) as { properties: Record<string, { description?: string }> }
  expect(properties.region?.description).toMatch(/; since 0\.2\.0$/)
  expect(properties.is_public?.description).toMatch(/new, in no release yet$/)
  expect(properties.name?.description ?? '').not.toMatch(/since|new/)
})
