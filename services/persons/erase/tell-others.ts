import type { Erasure } from '#ledger/erasures/erasures.js'
import { saltOf } from '#ledger/erasures/gates.js'
import { addErased } from '#ledger/webhooks/deliveries.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { erasedSchema } from '#schemas/derive/avro.js'
import { erasuresTopic, subjectOf } from '#schemas/derive/names.js'
import type { ErasedEvent } from '#schemas/events.js'
import type { EraseDeps } from './erase.js'

/**
 * Says that a person was erased to whoever may have been told of that person: on weir.erasures, and to webhooks. By hashes, so that what tells
 * to erase a person does not keep the person's ids itself. The topic is also what a Postgres that was put back learns it from.
 */
export const tellOthers = async (
  { pool, producer, registry }: Pick<EraseDeps, 'pool' | 'producer' | 'registry'>,
  { erasureId, orgId, mode, afterwards, names }: Erasure,
): Promise<void> => {
  const salt = await saltOf(pool, orgId)
  const event: ErasedEvent = {
    ...{ org_id: orgId, erasure_id: erasureId, mode, afterwards, erased_at: Date.now() },
    ...{ salt: salt.toString('hex'), ids_sha256: [...names].sort() },
  }
  const encode = await registry.encoder<ErasedEvent>(subjectOf(erasuresTopic), erasedSchema())
  await producer.send(erasuresTopic, 0, [{ key: `${orgId}/${erasureId}`, value: encode(event) }])
  // Its webhooks went with the organisation.
  if (mode === 'organisation') return
  const { org_id: org, erased_at: at, afterwards: _, ...rest } = event
  const body = JSON.stringify({ type: 'person.erased', timestamp: new Date(at), data: { org, ...rest } })
  await inTransaction(pool, (connection) => addErased(connection, orgId, erasureId, body))
}
