import type { Received, Valued } from '#platform/kafka/kafka.js'
import type { Registry } from '#platform/registry.js'

/** Where the rows of accepted, refused and waiting records go. Another one than ClickHouse costs an implementation of this. */
export type Destination = {
  /** The ways of all topics that end here, by topic. Opening them needs the registry; from then on they do without it. */
  openFeeds: (registry: Registry) => Promise<ReadonlyMap<string, Feed>>
  /** How many rows are too old. */
  countExpired: (before: RowCutoffs) => Promise<ExpiredRows>
  /** Deletes them; `onRows` hears of each step. */
  prune: (
    before: RowCutoffs,
    options?: { signal?: AbortSignal; onRows?: (rows: number) => void },
  ) => Promise<ExpiredRows>
  /** By its own clock, in milliseconds. */
  time: () => Promise<number>
  ping: () => Promise<void>
}

/** How the events of one topic become rows. */
export type Feed = {
  /** Resolves once the rows are there, each once, to the messages that are unreadable. Where it rejects: to be written again. */
  write: (messages: readonly Received[]) => Promise<UnreadableMessage[]>
}

export type UnreadableMessage = { message: Valued; reason: string }

/** The moments before which rows are too old: rejections and ended waits, and versions that were replaced. Undefined: none are. */
export type RowCutoffs = { rejections?: Date | undefined; history?: Date | undefined }

export type ExpiredRows = { rejections: number; waiting_rows: number; versions: number }
