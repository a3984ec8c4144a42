import avro from 'avsc'
import { expect, it } from 'vitest'
import { createCatalogue, uploads } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import { clickhouseSql } from '#schemas/derive/clickhouse.js'
import { dbtSources } from '#schemas/derive/for-analysts/dbt-sources.js'
import { modelPicture } from '#schemas/derive/for-analysts/model-picture.js'
import { openapiOf } from '#schemas/derive/openapi.js'
import { scopesOf } from '#schemas/derive/scopes.js'
import { asyncapiYaml } from '#schemas/derive/topic-reference/asyncapi.js'
import { topicReferenceOf } from '#schemas/derive/topic-reference/topic-reference.js'
import { topicsOf } from '#schemas/derive/topics.js'
import { eventTypesOf } from '#schemas/derive/typescript/event-types.js'
import { recordTypesOf } from '#schemas/derive/typescript/record-types.js'
import { createValidator } from '#schemas/derive/validator.js'
import { number, optional, reference, text, uuid } from '#schemas/field.js'
import { lifecycle, record } from '#schemas/record.js'
import { interaction } from '#schemas/records/interaction.js'
import { sampleOf } from '../support/sample.js'

const voucher = record({
  type: 'gift-vouchers',
  id: 'voucher_id',
  about: 'A voucher that a shop gives away.',
  fields: {
    voucher_id: uuid(),
    shop_id: reference('shops'),
    code: text(),
    worth: optional(number({ min: 1 })),
    ...lifecycle,
  },
})
const catalogue = createCatalogue([...uploads, voucher], interaction)

it('gives a type that is added to the catalogue everything the others have', () => {
  const validate = createValidator(voucher)
  expect(validate(sampleOf(voucher))).toHaveProperty('values')
  expect(validate(sampleOf(voucher, { worth: 0 }))).toMatchObject({
    problems: [{ field: 'worth', code: 'out_of_range' }],
  })

  const schemas = schemasByTopic(catalogue.all.values())
  for (const topic of ['weir.submitted.gift-vouchers', 'weir.accepted.gift-vouchers']) {
    expect(() => avro.Type.forSchema(schemas.get(topic) as avro.Schema)).not.toThrow()
    expect(topicsOf(catalogue).map(({ name }) => name)).toContain(topic)
  }

  const sql = clickhouseSql(catalogue).join('\n')
  expect(sql).toContain('create table if not exists weir.gift_vouchers_log')
  for (const name of ['gift_vouchers', 'gift_vouchers_history', 'gift_vouchers_as_of'])
    expect(sql).toMatch(new RegExp(`^create or replace view weir\\.${name} `, 'm'))

  expect(dbtSources(catalogue)).toContain('name: gift_vouchers_shop_id_names_one_of_shops')
  expect(modelPicture(catalogue)).toContain('>gift_vouchers</text>')

  expect(scopesOf(catalogue)).toContain('gift-vouchers:write')
  expect(openapiOf(catalogue).paths).toHaveProperty('/v1/data/gift-vouchers')

  expect(topicReferenceOf(catalogue).map(({ name }) => name)).toContain('weir.accepted.gift-vouchers')
  expect(asyncapiYaml(catalogue)).toContain('address: weir.accepted.gift-vouchers')
  expect(eventTypesOf(catalogue, ['weir.accepted.gift-vouchers'])).toContain('export interface GiftVouchersEvent {')

  const sdk = recordTypesOf(catalogue)
  expect(sdk).toContain("giftVouchers: { type: 'gift-vouchers', id: 'voucher_id', limit: 5000 }")
  expect(sdk).toMatch(
    /export interface GiftVouchersRecord {[^}]*\/\*\* at least 1 \*\/\n {2}worth\?: number \| null \| undefined\n/,
  )
})

it('refuses a reference to a type that is not in the catalogue', () => {
  expect(() => createCatalogue([voucher], interaction)).toThrow('nothing is called shops')
})
