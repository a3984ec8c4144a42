import { takeUpErasure } from '#ledger/erasures/taken-up.js'
import type { Log } from '#platform/health/log.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import { inTransaction, type Pool } from '#platform/postgres/postgres.js'
import type { Registry } from '#platform/registry.js'
import { erasedSchema } from '#schemas/derive/avro.js'
import { erasuresTopic } from '#schemas/derive/names.js'
import type { ErasedEvent } from '#schemas/events.js'

/**
 * Takes up erasures that Postgres does not know, because it was put back to a time before them: what came back with it goes again, and who was
 * erased is refused again. Their topic tells of them.
 */
export const takeUpErasures = async (deps: {
  pool: Pool
  kafka: Kafka
  registry: Pick<Registry, 'decoder'>
  log: Log
}): Promise<void> => {
  const { pool, kafka, log } = deps
  // A system from before erasures has no such topic until it is provisioned.
  if (!(await kafka.withAdmin((admin) => admin.listTopics())).includes(erasuresTopic)) return
  const decode = deps.registry.decoder<ErasedEvent>(erasedSchema())
  const events = new Map<string, ErasedEvent>()
  await readTopics(kafka, await stretchesOf(kafka, [erasuresTopic]), async ({ messages }) => {
    for (const { value } of messages) {
      const event = value && (await decode(value))
      if (event) events.set(event.erasure_id, event)
    }
  })
  for (const event of events.values()) {
    const taken = await inTransaction(pool, (connection) => takeUpErasure(connection, event))
    const about = { erasure_id: event.erasure_id, org: event.org_id }
    if (taken === 'taken up') log.warn(about, 'Postgres did not know of this erasure any more: it is done once more')
    if (taken === 'another salt' || taken === 'maybe somebody new')
      log.error(
        { ...about, reason: taken },
        'this erasure cannot be done once more by hashes: ask for it again, with the id of the person',
      )
  }
}
