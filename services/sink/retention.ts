import { historyBefore, type RetentionConfig, rejectionsBefore } from '#ledger/retention.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import type { Log } from '#platform/health/log.js'
import type { Metrics } from '#platform/health/metrics.js'
import { periodically } from '#platform/process/periodically.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { database, rejectionsLog } from '#schemas/derive/names.js'
import { type ExpiredVersions, pruneHistory } from './history.js'

/** Prunes rejections and old versions by the hour. Most hours there is nothing to do, since both go by whole days. */
export const startRetention = (deps: {
  config: Pick<RetentionConfig, 'REJECTION_RETENTION_DAYS' | 'HISTORY_DAYS' | 'PRUNE_EVERY_SECONDS'>
  catalogue: Catalogue
  clickhouse: ClickHouse
  metrics: Metrics
  log: Log
}): { stop: () => Promise<void> } => {
  const { config, catalogue, clickhouse, log } = deps
  const pruned = deps.metrics.counter('pruned_total', 'Rejections and old versions that are gone.')
  // To look for old versions is to read every log table, so it is done once for each day.
  let historyDone: Date | undefined
  return periodically({
    name: 'retention',
    everyMs: config.PRUNE_EVERY_SECONDS * 1000,
    work: async (signal) => {
      const before = rejectionsBefore(Date.now(), config)
      const rejections = await pruneRejections(clickhouse, before, { signal, onDay: ({ rows }) => pruned.inc(rows) })
      if (rejections > 0) log.info({ rejections, before }, 'pruned')

      const history = historyBefore(Date.now(), config)
      if (!history || history.getTime() === historyDone?.getTime()) return
      const onType = ({ rows }: ExpiredVersions): void => pruned.inc(rows)
      const versions = await pruneHistory(clickhouse, catalogue, history, { signal, onType })
      historyDone = history
      if (versions > 0) log.info({ versions, before: history }, 'pruned')
    },
    log,
  })
}

/**
 * Deletes the rejections from before a moment, one day after the other. A delete only marks rows, which a later merge drops,
 * so that a day costs about as much as reading its parts once. Where two processes delete the same day at the same time, the
 * second one finds nothing left.
 */
export const pruneRejections = async (
  clickhouse: ClickHouse,
  before: Date,
  options: { signal?: AbortSignal; onDay?: (expired: ExpiredDay) => void } = {},
): Promise<number> => {
  let rows = 0
  for (const expired of await findExpiredDays(clickhouse, before)) {
    options.signal?.throwIfAborted()
    await clickhouse.command(`delete from ${table} where toDate32(rejected_at) = toDate32('${expired.day}')`)
    rows += expired.rows
    options.onDay?.(expired)
  }
  return rows
}

const table = `${database}.${rejectionsLog}`

/** A day (UTC) with rejections that are too old, and how many rows it has. */
export type ExpiredDay = { day: string; rows: number }

export const findExpiredDays = (clickhouse: ClickHouse, before: Date): Promise<ExpiredDay[]> =>
  clickhouse.query<ExpiredDay>(
    `select toString(toDate32(rejected_at)) as day, toUInt32(count()) as rows
    from ${table}
    where rejected_at < fromUnixTimestamp64Milli({before:Int64}, 'UTC')
    group by day
    order by day`,
    { before: before.getTime() },
  )
