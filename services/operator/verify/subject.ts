import type { AcceptedLoss } from '#ledger/fence.js'
import type { StoredVerdict } from '#ledger/verdicts.js'
import type { Wait } from '#ledger/waiting/look-up.js'
import type { Group } from '#platform/kafka/committed-offsets.js'
import type { Fetch } from '#platform/kafka/kafka.js'
import type { TopicPartition } from '#platform/kafka/partitions.js'
import type { Producer } from '#platform/kafka/producer.js'
import type { Stretch } from '#platform/kafka/read-topics.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { Layout } from '#schemas/derive/topics.js'
import type { RecordType } from '#schemas/record.js'
import type { Progress } from '../command/progress.js'
import type { Differences } from './differences.js'
import type { Expectations } from './expectations.js'
import type { Rows } from './rows.js'

/** What is verified, and with what. */
export type Subject = {
  topics: Topics
  decisions: StoredDecisions
  rows: Rows
  registry: Pick<Registry, 'decoder' | 'encoder'>
  catalogue: Catalogue
  /** How wide the system is. */
  layout: Layout
  /** How wide the generations of its submitted log are that are verified. */
  layouts: readonly Layout[]
  types: ReadonlyMap<string, CheckedType>
  /** Only what this organisation sent, where one is named. */
  org: string | undefined
  range: Range
  now: number
  differences: Differences
  progress: (label: string, total: number) => Progress
}

/** The topics, as far as they are read and mended. */
export type Topics = {
  /** All that these topics hold now; or, since a moment in milliseconds, what was written from then on. */
  stretches: (topics: readonly string[], since?: number) => Promise<Stretch[]>
  /** Hands over every message of these stretches once, each partition's in order. */
  read: (
    stretches: readonly Stretch[],
    onFetch: (fetch: Pick<Fetch, 'topic' | 'partition' | 'messages'>) => Promise<void>,
  ) => Promise<void>
  /** How far these groups are, by `topic/partition`. */
  committed: (groups: readonly Group[]) => Promise<ReadonlyMap<string, number>>
  createProducer: () => Promise<Pick<Producer, 'send' | 'close'>>
}

/** What integrity has decided, as Postgres keeps it. */
export type StoredDecisions = {
  /** The time by the clock that decisions go by. */
  time: () => Promise<number>
  /** By `topic/partition`: what lies below this offset was decided. */
  cursors: () => Promise<ReadonlyMap<string, number>>
  verdicts: (batchIds: readonly string[]) => Promise<ReadonlyMap<string, StoredVerdict>>
  /** What is known of the records of these batches that wait or waited. */
  waits: (batchIds: readonly string[]) => Promise<readonly Wait[]>
  /** The moment before which verdicts of a partition may have been pruned. */
  prunedBefore: (at: TopicPartition) => Promise<number | undefined>
  /** The losses that operators have accepted in a partition. */
  acceptedLosses: (at: TopicPartition) => Promise<readonly AcceptedLoss[]>
  /** Batches of a partition that an erasure took out of the log. */
  holes: (at: TopicPartition) => Promise<ReadonlySet<number>>
  /** When an erasure last had topics compacted, whatever their lag; undefined where none ever had. */
  erasedAt: () => Promise<number | undefined>
}

/** From this moment on, and up to but without that one, in milliseconds; up to now where there is no `until`. */
export type Range = { since: number; until: number | undefined }

/** Clocks of edge, integrity and broker differ: events of the range are looked for from this much earlier on. */
export const clockMargin = 10 * 60_000
export const readFrom = ({ range }: Pick<Subject, 'range'>): number => range.since - clockMargin

/** One type under examination. */
export type CheckedType = {
  type: RecordType
  counts: TypeCounts
  expectations: Expectations
  /** Records whose waiting has ended by a batch in the log, as `batch id/place`. */
  endedAnew: Set<string>
  /** Records that are gone, by a hash of their key, and when a message without a value said so last. */
  gone: Map<number, number>
}

const none = {
  /** Batches in the range, and the records in them; each record that waited counts where it was first submitted. */
  batches: 0,
  records: 0,
  /** Records of batches that are not yet decided. */
  waiting: 0,
  /** Records that wait for what they refer to, those that waited and were decided anew, and those that never will be. */
  waitingForReferences: 0,
  decidedAnew: 0,
  superseded: 0,
  cancelled: 0,
  /** Batches that repeat an earlier one, and batches whose verdict is too old to be kept. */
  repeats: 0,
  forgotten: 0,
  /** Newly accepted records: a keyed interaction that was accepted before is not published again. */
  accepted: 0,
  refused: 0,
  /** Accepted records that were found on their topic, and refused ones on weir.rejected. */
  onTopic: 0,
  onRejected: 0,
  /** Keys on the topic since the range began, and those of them with their row in ClickHouse. */
  keys: 0,
  rows: 0,
  /** Events and rows that are on their way. */
  inFlight: 0,
  /** Accepted records whose event a newer one has replaced, and compaction removed. */
  compacted: 0,
  /** Accepted records whose event is not on its topic, and whose record is gone since. */
  gone: 0,
  /** Messages that cannot be decoded. */
  unreadable: 0,
}

/** What was counted of one type. */
export type TypeCounts = { type: string } & typeof none

export const noCounts = (type: string): TypeCounts => ({ type, ...none })
