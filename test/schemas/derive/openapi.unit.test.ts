import { readFileSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { exampleOf, recordSchema } from '#schemas/derive/openapi/record-schema.js'
import { openapiOf } from '#schemas/derive/openapi.js'
import { createValidator } from '#schemas/derive/validator.js'
import type { Values } from '#schemas/field.js'
import { createReferencesOf } from '#schemas/record.js'
import { interaction } from '#schemas/records/interaction.js'
import { transaction } from '#schemas/records/transaction.js'

const document = openapiOf(catalogue)

it('has a path for every type, with an example that the validator takes', () => {
  for (const type of catalogue.uploads.values()) {
    expect(document.paths[`/v1/data/${type.type}`]).toHaveProperty('post.responses.207')
    expect(createValidator(type)(exampleOf(type)), type.type).toHaveProperty('values')
  }
  expect(createValidator(interaction)(exampleOf(interaction))).toHaveProperty('values')
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining(['/user-interactions', '/v1/requests/{request_id}', '/healthz', '/readyz', '/metrics']),
  )
})

it('has examples that refer to one another, and do not replace the records of the README', () => {
  const readme = readFileSync('README.md', 'utf8')
  const ids = new Set([...catalogue.uploads.values()].map((type) => exampleOf(type)[type.id]))
  expect(ids.size).toBe(catalogue.uploads.size)
  for (const id of ids) expect(readme).not.toContain(id)
  for (const type of catalogue.all.values()) {
    for (const { id } of createReferencesOf(type)(exampleOf(type) as Values)) expect([...ids]).toContain(id)
  }
})

it('has examples of errors that fit their status', () => {
  for (const [status, response] of Object.entries(document.components.responses))
    expect(response, status).toHaveProperty(['content', 'application/json', 'example', 'error'], STATUS_CODES[status])
})

it('says of each field what the validator asks of it', () => {
  const { properties, required, additionalProperties } = recordSchema(transaction)
  expect(required).toEqual(['transaction_id', 'shop_id', 'region', 'savings', 'amount'])
  expect(additionalProperties).toBe(false)
  expect(properties).toMatchObject({
    shop_id: { type: 'string', format: 'uuid', description: 'the id of a record of shops that exists' },
    region: { type: 'string', pattern: expect.stringContaining('|G[ABDEFGHILMNPQRSTUWY]|') },
    savings: { type: 'number', minimum: 0 },
    amount: { type: 'number', exclusiveMinimum: 0 },
    source: { type: ['string', 'null'], maxLength: 4096 },
    created: { type: ['string', 'null'], format: 'date-time' },
    is_deleted: { type: ['boolean', 'null'] },
  })
  expect(recordSchema(interaction).properties).toMatchObject({
    platform: { type: ['string', 'null'], enum: ['ANDROID', 'IOS', 'WEB', 'OTHER', null] },
    event_timestamp: { type: ['string', 'integer'] },
  })
})

it('refers to nothing that is not there, and gives each operation a name of its own', () => {
  const text = JSON.stringify(document)
  for (const [, path = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) expect(document).toHaveProperty(path.split('/'))
  const names = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, name]) => name)
  expect(new Set(names).size).toBe(names.length)
})
