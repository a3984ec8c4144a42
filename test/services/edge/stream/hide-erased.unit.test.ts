import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { hashOfName } from '#ledger/erasures/gates.js'
import { createValuesEncoder } from '#schemas/byte-path/byte-path.js'
import { catalogue } from '#schemas/catalogue.js'
import type { Values } from '#schemas/field.js'
import { customer } from '#schemas/records/customer.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import type { BatchOutcome } from '../../../../services/edge/batches/outcome.js'
import { createHideErased, createSubmitHidden } from '../../../../services/edge/stream/hide-erased.js'
import { batchOf, outgoing, refusalOf } from '../../../support/batch.js'
import { sampleOf } from '../../../support/sample.js'

const salt = Buffer.from('salt')
const [ann, bob] = [randomUUID(), randomUUID()]
const behind = new Set([ann, 'ann the user'].map((name) => hashOfName(salt, name).toString('hex')))
const gates = {
  has: (org: string) => org === 'acme',
  of: async (org: string) => (org === 'acme' ? { salt, hashes: behind } : undefined),
}
const hide = createHideErased(catalogue, gates)
const erased = (index: number) => ({
  ...{ index, id: null, record: '{}', truncated: false },
  problems: [expect.objectContaining({ code: 'person_erased' })],
})

it('takes records of erased persons out, in their places, and nothing else', async () => {
  const records = [bob, ann.toUpperCase(), bob].map((user_id) => sampleOf(customer, { user_id }))
  const batch = outgoing(customer, batchOf(customer, records))
  const [hidden] = await hide('customers', [batch])
  expect(hidden).toMatchObject({ batch_id: batch.batch_id, refusals: [erased(1)] })
  expect(hidden?.records).toEqual([batch.records[0], batch.records[2]])
  const [others] = await hide('customers', [{ ...batch, org_id: 'other' }])
  expect(others?.records).toHaveLength(3)
})

it('takes what was sent out of refusals, wherever the id stands in it', async () => {
  const refusals = [`{"custmer": "${ann}"}`, `{"user_id": "ann the user"}`, '{"name": "ann the user"}', 'no json'].map(
    (record, index) => ({ ...refusalOf(index), record }),
  )
  const batch = outgoing(shop, { ...batchOf(shop, []), refusals })
  const [hidden] = await hide('shops', [batch])
  expect(hidden?.refusals).toEqual([erased(0), ...refusals.slice(1)])
  const [ofInteractions] = await hide('interactions', [
    outgoing(interaction, { ...batchOf(interaction, []), refusals }),
  ])
  expect(ofInteractions?.refusals).toEqual([erased(0), erased(1), ...refusals.slice(2)])
})

it('finds persons whether the service has added its own values or not, also by a user_id that is no UUID', async () => {
  const records = [sampleOf(interaction, { user_id: 'ann the user' }), sampleOf(interaction, { user_id: 'bob' })]
  const batch = batchOf(interaction, records)
  const encode = createValuesEncoder(interaction)
  const whole = batch.records.map(({ index, keyed_sha256, interaction_id = '', recorded_at = 0, ...values }) => {
    const avro = encode(values as Values, { interaction_id, recorded_at } as Values)
    return { index, keyedSha256: keyed_sha256, avro, at: 0, size: avro.length }
  })
  const given = outgoing(interaction, batch)
  for (const each of [
    { ...given, assigns: true },
    { ...given, records: whole },
  ]) {
    const [hidden] = await hide('interactions', [each])
    expect([hidden?.records.length, hidden?.refusals]).toEqual([1, [erased(0)]])
  }
})

it('submits batches of organisations that had nobody erased as they are', async () => {
  const submitted: unknown[] = []
  const submit = createSubmitHidden(
    async (_, batches) => {
      submitted.push(...batches)
      return batches.map((): BatchOutcome => ({ unknown: 'no verdict yet' }))
    },
    hide,
    gates,
  )
  const batch = outgoing(customer, batchOf(customer, [sampleOf(customer, { customer_id: ann })]))
  await submit('customers', [{ ...batch, org_id: 'other' }])
  await submit('customers', [batch])
  expect(submitted).toMatchObject([{ records: [{}] }, { records: [], refusals: [erased(0)] }])
})
