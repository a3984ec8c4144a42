import type { Committed } from '#platform/kafka/committed-offsets.js'
import { inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { changedBy, countOf } from '#platform/postgres/rows.js'
import { type ConfigSchema, integer, type ValuesOf } from '#platform/process/config.js'
import { inSteps } from '#platform/process/periodically.js'
import { catalogue } from '#schemas/catalogue.js'
import { typeOfSubmitted } from '#schemas/derive/names.js'
import { countPrunableAudit, pruneAudit } from './audit-chain.js'
import { holdCursor, markPruned } from './cursors.js'
import { pruneLimitHits } from './organisations.js'
import { pruneOrders } from './retries/orders.js'
import { countPrunableVerdicts, pruneVerdicts } from './verdicts.js'
import { countPrunableWaits, pruneWaits } from './waiting/upkeep.js'

// How long things are kept, from which moment on they are too old, and how the tables of Postgres are rid of them.

export const retentionVariables = {
  // An Idempotency-Key is promised to work for a day.
  VERDICT_RETENTION_HOURS: integer(
    { minimum: 24, default: 720 },
    'how long verdicts are kept after their last use, and keyed interactions after they were recorded',
  ),
  REJECTION_RETENTION_DAYS: integer(
    { minimum: 1, default: 90 },
    'how many whole days (UTC) rejections are kept. In ClickHouse also records that waited; integrity keeps what it knows of retries two weeks longer',
  ),
  AUDIT_RETENTION_DAYS: integer(
    { minimum: 1, default: 400 },
    'how many days are kept of what was done with keys, limits and records (GET /v1/audit)',
  ),
  HISTORY_DAYS: integer(
    { minimum: 1 },
    'how many whole days (UTC) a version of a record is kept after it was replaced; kept for good where not set. The current version always stays',
  ),
  PRUNE_EVERY_SECONDS: integer(
    { minimum: 1, default: 3600 },
    'how often what is too old is looked for; the first time five minutes after the start at the latest',
  ),
} as const satisfies ConfigSchema['properties']

export type RetentionConfig = ValuesOf<typeof retentionVariables>

const hour = 3_600_000
const day = 24 * hour

/** Verdicts that were last used before this moment are too old. */
export const verdictsBefore = (
  now: number,
  { VERDICT_RETENTION_HOURS: hours }: Pick<RetentionConfig, 'VERDICT_RETENTION_HOURS'>,
): Date => new Date(now - hours * hour)

/** Rejections of days before this one are too old: whole days, so that ClickHouse is asked to delete once a day. */
export const rejectionsBefore = (
  now: number,
  { REJECTION_RETENTION_DAYS: days }: Pick<RetentionConfig, 'REJECTION_RETENTION_DAYS'>,
): Date => startOfDay(now - days * day)

/** What was done before this moment is too old. */
export const auditBefore = (
  now: number,
  { AUDIT_RETENTION_DAYS: days }: Pick<RetentionConfig, 'AUDIT_RETENTION_DAYS'>,
): Date => new Date(now - days * day)

/** Versions that were replaced before this moment are too old: whole days too. Undefined where all are kept. */
export const historyBefore = (
  now: number,
  { HISTORY_DAYS: days }: { HISTORY_DAYS?: number | undefined },
): Date | undefined => (days === undefined ? undefined : startOfDay(now - days * day))

const startOfDay = (time: number): Date => new Date(Math.floor(time / day) * day)

/**
 * Retries are kept longer than the rejections that they belong to: a sink that reads the topic again brings pruned rejections
 * back for a while, and they must not be retried twice. Kafka drops whole segments, so the topic can reach back a week
 * further than its retention says.
 */
export const retriesBefore = (rejections: Date, now: number, topicRetention: number): Date =>
  new Date(Math.min(rejections.getTime(), now - topicRetention) - 14 * day)

/**
 * Verdicts on gathered interactions go after a day. Each interaction has its answer at once; a look-up serves only clients that
 * did not hear it, and they ask soon. An Idempotency-Key of an interaction is remembered in keyed_interactions, for as long as
 * the other verdicts are kept; that of a request with many of them by its verdicts, which stay as long.
 */
export const interactionVerdictsBefore = (now: number, verdicts: Date): Date =>
  new Date(Math.max(verdicts.getTime(), now - day))

export type Prunable = 'verdicts' | 'waits' | 'keyed_interactions' | 'keyed_requests' | 'retries' | 'audit'
export type PrunedCounts = Record<Prunable, number>

/** What is too old: verdicts with keyed interactions and waits, verdicts on interactions with their request ids, retries, the audit. */
export type Cutoffs = {
  verdicts?: Date | undefined
  interactionVerdicts?: Date | undefined
  retries?: Date | undefined
  audit?: Date | undefined
}

/** Deletes what is too old, in short steps, so that no decision waits long. Several processes may share the work. */
export const createRetention = (deps: {
  pool: Pool
  /** Only verdicts whose events are published may go: until then the events can be made from the verdict alone. */
  committed: () => Promise<readonly Committed[]>
  onStep?: (what: Prunable, count: number) => void
  steps?: { most?: number; pauseMs?: number }
}) => {
  const { pool, onStep } = deps
  const prune = (what: Prunable, step: (most: number) => Promise<number>, signal?: AbortSignal): Promise<number> =>
    inSteps(step, { ...deps.steps, signal, onStep: (count) => onStep?.(what, count) })
  const pruneAll = (table: TableByAge, before: Date, signal?: AbortSignal): Promise<number> =>
    prune(table, (most) => pruneOld(pool, table, before, most), signal)

  // With the cursor locked, as integrity locks it: a batch that comes again at this moment either finds its verdict and
  // renews it, or is handled after the pruning.
  const verdictsOf = (partition: Committed, before: Date, most: number, keepKeyed: boolean): Promise<number> =>
    inTransaction(pool, async (connection) => {
      const cursor = await holdCursor(connection, partition)
      if (!cursor) return 0
      // The group may have lost its offsets since they were asked for, and what it had published is being published again.
      const offset = Math.min(partition.offset, cursor.replayedFrom ?? partition.offset)
      const { count, lastUsed } = await pruneVerdicts(connection, { ...partition, offset }, before, most, keepKeyed)
      if (lastUsed) await markPruned(connection, partition, lastUsed)
      return count
    })

  const isOfInteractions = ({ topic }: Committed): boolean => typeOfSubmitted(topic) === catalogue.interaction.type

  return {
    count: async ({ verdicts, interactionVerdicts = verdicts, retries, audit }: Cutoffs): Promise<PrunedCounts> => {
      const committed = verdicts ? await deps.committed() : []
      const [own, others] = [committed.filter(isOfInteractions), committed.filter((each) => !isOfInteractions(each))]
      const unkeyed = interactionVerdicts ? await countPrunableVerdicts(pool, own, interactionVerdicts, true) : 0
      const unkeyedOfAll = verdicts ? await countPrunableVerdicts(pool, own, verdicts, true) : 0
      const all = verdicts ? await countPrunableVerdicts(pool, [...own, ...others], verdicts) : 0
      return {
        verdicts: unkeyed + all - unkeyedOfAll,
        waits:
          verdicts && interactionVerdicts
            ? await countPrunableWaits(pool, { uploads: verdicts, interactions: interactionVerdicts })
            : 0,
        keyed_interactions: verdicts ? await countOld(pool, 'keyed_interactions', verdicts) : 0,
        keyed_requests: interactionVerdicts ? await countOld(pool, 'keyed_requests', interactionVerdicts) : 0,
        retries: retries ? await countOld(pool, 'retries', retries) : 0,
        audit: audit ? await countPrunableAudit(pool, audit) : 0,
      }
    },
    prune: async (
      { verdicts, interactionVerdicts = verdicts, retries, audit }: Cutoffs,
      signal?: AbortSignal,
    ): Promise<PrunedCounts> => {
      const pruned: PrunedCounts = {
        verdicts: 0,
        waits: 0,
        keyed_interactions: 0,
        keyed_requests: 0,
        retries: 0,
        audit: 0,
      }
      if (verdicts && interactionVerdicts) {
        for (const partition of await deps.committed()) {
          const pruneBefore = (before: Date, keepKeyed: boolean): Promise<number> =>
            prune('verdicts', (most) => verdictsOf(partition, before, most, keepKeyed), signal)
          if (isOfInteractions(partition)) pruned.verdicts += await pruneBefore(interactionVerdicts, true)
          pruned.verdicts += await pruneBefore(verdicts, false)
        }
        const ended = { uploads: verdicts, interactions: interactionVerdicts }
        pruned.waits = await prune('waits', (most) => pruneWaits(pool, ended, most), signal)
        pruned.keyed_interactions = await pruneAll('keyed_interactions', verdicts, signal)
        // Without its verdict such a row finds nothing: it may go a moment later.
        pruned.keyed_requests = await pruneAll('keyed_requests', interactionVerdicts, signal)
      }
      if (retries) {
        pruned.retries = await pruneAll('retries', retries, signal)
        // Without its claims an order says nothing that anybody needs.
        await inSteps((most) => pruneOrders(pool, retries, most), { ...deps.steps, signal })
      }
      if (audit) {
        pruned.audit = await prune('audit', (most) => pruneAudit(pool, audit, most), signal)
        await inSteps((most) => pruneLimitHits(pool, audit, most), { ...deps.steps, signal })
      }
      return pruned
    },
  }
}

/** Tables whose rows go by their age alone: the columns of their primary key, and when a row is from. */
const byAge = {
  keyed_interactions: { key: 'org_id, interaction_id', time: 'recorded_at' },
  keyed_requests: { key: 'request_id, batch_id, place', time: 'decided_at' },
  retries: { key: 'batch_id, index', time: 'rejected_at' },
} as const
type TableByAge = keyof typeof byAge

/** Removes at most `most` rows from before a moment. Rows that another process is removing are left to that process. */
export const pruneOld = (pool: Pool, table: TableByAge, before: Date, most: number): Promise<number> => {
  const { key, time } = byAge[table]
  return changedBy(pool, {
    name: `prune-${table}`,
    text: `
      delete from integrity.${table}
      where (${key}) in (
        select ${key} from integrity.${table} where ${time} < $1 order by ${time} limit $2 for update skip locked
      )`,
    values: [before, most],
  })
}

export const countOld = (pool: Pool, table: TableByAge, before: Date): Promise<number> =>
  countOf(pool, `select count(*) as count from integrity.${table} where ${byAge[table].time} < $1`, [before])
