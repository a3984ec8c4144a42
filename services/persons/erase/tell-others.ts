import type { Erasure } from '#ledger/erasures/erasures.js'
import { saltOf } from '#ledger/erasures/gates.js'
import { addErased } from '#ledger/webhooks/deliveries.js'
import { groupBy } from '#platform/group-by.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { erasedSchema } from '#schemas/derive/avro.js'
import { erasuresTopic, subjectOf } from '#schemas/derive/names.js'
import type { ErasedEvent } from '#schemas/events.js'
import type { EraseDeps } from './erase.js'

/**
 * Says that persons were erased to whoever may have been told of them: on weir.erasures, and to webhooks. By hashes, so that what tells
 * to erase a person does not keep the person's ids itself. The topic is also what a Postgres that was put back learns it from.
 */
export const tellOthers = async (
  { pool, producer, registry }: Pick<EraseDeps, 'pool' | 'producer' | 'registry'>,
  erasures: readonly Erasure[],
): Promise<void> => {
  const events: ErasedEvent[] = []
  for (const [orgId, own] of groupBy(erasures, (erasure) => erasure.orgId)) {
    const salt = (await saltOf(pool, orgId)).toString('hex')
    for (const { erasureId, mode, afterwards, names } of own)
      events.push({
        ...{ org_id: orgId, erasure_id: erasureId, mode, afterwards, erased_at: Date.now() },
        ...{ salt, ids_sha256: [...names].sort() },
      })
  }
  const encode = await registry.encoder<ErasedEvent>(subjectOf(erasuresTopic), erasedSchema())
  await producer.send(
    erasuresTopic,
    0,
    events.map((event) => ({ key: `${event.org_id}/${event.erasure_id}`, value: encode(event) })),
  )
  await inTransaction(pool, async (connection) => {
    for (const { org_id: org, erased_at: at, afterwards: _, ...rest } of events) {
      // Its webhooks went with the organisation.
      if (rest.mode === 'organisation') continue
      const body = JSON.stringify({ type: 'person.erased', timestamp: new Date(at), data: { org, ...rest } })
      await addErased(connection, org, rest.erasure_id, body)
    }
  })
}
