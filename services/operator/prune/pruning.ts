import { type Counts, type Cutoffs, createRetention } from '#ledger/retention.js'
import type { Log } from '#platform/health/log.js'
import { committedOffsets } from '#platform/kafka/committed-offsets.js'
import { createKafka } from '#platform/kafka/kafka.js'
import { groupsOf } from '#schemas/derive/topics.js'
import { findExpiredDays, pruneRejections } from '../../sink/retention.js'
import type { Session } from '../desk/session.js'
import { withClickHouse } from '../desk/with-clickhouse.js'

type Before = Cutoffs & { rejections?: Date | undefined }
export type Pruning = {
  count: (before: Before) => Promise<Counts & { rejections: number }>
  prune: (before: Before, onRows: (count: number) => void) => Promise<Counts & { rejections: number }>
}

/** The services' own pruning, the same code, with the clients that it takes. */
export const createPruning = <T>(session: Session, log: Log, work: (pruning: Pruning) => Promise<T>): Promise<T> => {
  const { config, catalogue } = session
  const kafka = createKafka({ brokers: config.KAFKA_BROKERS, clientId: 'weir-operator', log })
  const committed = () => committedOffsets(kafka, Object.values(groupsOf(catalogue)))
  return withClickHouse(config.CLICKHOUSE_URL, (clickhouse) =>
    session.withPool((pool) => {
      const expired = async (before: Date | undefined) => (before ? findExpiredDays(clickhouse, before) : [])
      return work({
        count: async ({ rejections, ...before }) => ({
          ...(await createRetention({ pool, committed }).count(before)),
          rejections: (await expired(rejections)).reduce((sum, { rows }) => sum + rows, 0),
        }),
        prune: async ({ rejections, ...before }, onRows) => ({
          ...(await createRetention({ pool, committed, onStep: (_, count) => onRows(count) }).prune(before)),
          rejections: rejections
            ? await pruneRejections(clickhouse, rejections, { onDay: ({ rows }) => onRows(rows) })
            : 0,
        }),
      })
    }),
  )
}
