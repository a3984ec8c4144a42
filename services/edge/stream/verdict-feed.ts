import { randomUUID } from 'node:crypto'
import type { Log } from '#platform/health/log.js'
import type { Consumer, Kafka } from '#platform/kafka/kafka.js'
import type { Crash } from '#platform/process/lifecycle.js'
import type { Registry } from '#platform/registry.js'
import { verdictSchema } from '#schemas/derive/avro.js'
import { subjectOf, verdictsTopic } from '#schemas/derive/names.js'
import type { VerdictEvent } from '#schemas/events.js'

/** Every edge hears every verdict from now on, in a group of its own; what it misses it finds in Postgres. */
export const followVerdicts = async (deps: {
  kafka: Kafka
  registry: Registry
  settle: (verdict: VerdictEvent) => void
  crash: Crash
  log: Log
}): Promise<Consumer> => {
  await deps.registry.prepare(subjectOf(verdictsTopic), verdictSchema())
  const decode = deps.registry.decoder<VerdictEvent>(verdictSchema())
  return deps.kafka.consume({
    groupId: `weir-edge-${randomUUID()}`,
    topics: [verdictsTopic],
    fromBeginning: false,
    commits: false,
    crash: deps.crash,
    onFetch: async ({ messages }) => {
      for (const { offset, value } of messages) {
        try {
          deps.settle(await decode(value))
        } catch (error) {
          // Not worth stopping for: whoever waits for it finds it in Postgres.
          deps.log.warn({ err: error, offset }, 'verdict could not be read')
        }
      }
    },
  })
}
