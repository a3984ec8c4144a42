import { randomBytes } from 'node:crypto'
import type { Erasure } from '#ledger/erasures/erasures.js'
import { hashOfName } from '#ledger/erasures/gates.js'
import { addErased } from '#ledger/webhooks/deliveries.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { erasedSchema } from '#schemas/derive/avro.js'
import { erasuresTopic, subjectOf } from '#schemas/derive/names.js'
import type { ErasedEvent } from '#schemas/events.js'
import type { EraseDeps } from './erase.js'

/**
 * Says that a person was erased to whoever may have been told of that person: on weir.erasures, and to webhooks. By hashes, so that what tells
 * to erase a person does not keep the person's ids itself; with a salt of its own, since the organisation's stays a secret.
 */
export const tellOthers = async (
  { pool, producer, registry }: Pick<EraseDeps, 'pool' | 'producer' | 'registry'>,
  { erasureId, orgId, mode, known }: Erasure,
): Promise<void> => {
  const ids = [...new Set([...(known?.customerIds ?? []), ...(known?.userIds ?? [])])]
  // An erasure that is done once more has told them before, and knows the ids no longer.
  if (ids.length === 0) return
  const salt = randomBytes(16)
  const event: ErasedEvent = {
    ...{ org_id: orgId, erasure_id: erasureId, mode, erased_at: Date.now(), salt: salt.toString('hex') },
    ids_sha256: ids.map((id) => hashOfName(salt, id).toString('hex')).sort(),
  }
  const encode = await registry.encoder<ErasedEvent>(subjectOf(erasuresTopic), erasedSchema())
  await producer.send(erasuresTopic, 0, [{ key: `${orgId}/${erasureId}`, value: encode(event) }])
  const { org_id: org, erased_at: at, ...rest } = event
  const body = JSON.stringify({ type: 'person.erased', timestamp: new Date(at), data: { org, ...rest } })
  await inTransaction(pool, (connection) => addErased(connection, orgId, erasureId, body))
}
