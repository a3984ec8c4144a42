import type { ConfigSchema, ValuesOf } from '#platform/process/config.js'

const hour = 3_600_000
const day = 24 * hour

/** How long things are kept, and how often pruning looks for what is too old. */
export const retentionVariables = {
  VERDICT_RETENTION_HOURS: {
    type: 'integer',
    // An Idempotency-Key is promised to work for a day.
    minimum: 24,
    default: 720,
    description: 'how long verdicts and keyed interactions are kept after their last use',
  },
  REJECTION_RETENTION_DAYS: {
    type: 'integer',
    minimum: 1,
    default: 90,
    description: 'how many whole days (UTC) rejections are kept',
  },
  PRUNE_EVERY_SECONDS: {
    type: 'integer',
    minimum: 1,
    default: 3600,
    description: 'how often what is too old is looked for; the first time five minutes after the start at the latest',
  },
} as const satisfies ConfigSchema['properties']

export type RetentionConfig = ValuesOf<typeof retentionVariables>

/** Verdicts that were last used before this moment are too old. */
export const verdictsBefore = (
  now: number,
  { VERDICT_RETENTION_HOURS: hours }: Pick<RetentionConfig, 'VERDICT_RETENTION_HOURS'>,
): Date => new Date(now - hours * hour)

/** Rejections of days before this one are too old: whole days, so that ClickHouse is asked to delete once a day. */
export const rejectionsBefore = (
  now: number,
  { REJECTION_RETENTION_DAYS: days }: Pick<RetentionConfig, 'REJECTION_RETENTION_DAYS'>,
): Date => new Date(Math.floor((now - days * day) / day) * day)

/**
 * Retries are kept longer than the rejections that they belong to: a sink that reads the topic again brings pruned rejections
 * back for a while, and they must not be retried twice. Kafka drops whole segments, so the topic can reach back a week
 * further than its retention says.
 */
export const retriesBefore = (rejections: Date, now: number, topicRetention: number): Date =>
  new Date(Math.min(rejections.getTime(), now - topicRetention) - 14 * day)
