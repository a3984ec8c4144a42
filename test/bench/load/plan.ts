import type { Latencies } from '../measure/figures.js'

/** Requests of one kind, sent by some connections one after another. */
export type Stream = {
  /** Where to, like /v1/data/shops or /naive. */
  path: string
  /** What the body holds: a type of upload, or interactions. */
  type: string
  recordsPerRequest: number
  connections: number
  /** How many records of each body are to be refused. */
  wrong?: number
  /**
   * So many records of each body refer to new shops, each to another one. Those are uploaded just before the body, or once it is
   * answered: then the records wait for them. They count as accepted: they are in ClickHouse soon after.
   */
  newShops?: { count: number; sent: 'before' | 'after' }
  /** Keep one id in so many, for others to refer to. */
  remember?: number
}

/** What the load generator is asked to send. */
export type LoadPlan = {
  url: string
  /** Keys of organisations; each request takes one at random. */
  keys: readonly string[]
  streams: readonly Stream[]
  /** It lasts for so many seconds, and on a slow machine up to three times as long, until `leastRecords` were sent. */
  seconds?: number
  leastRecords?: number
  /** It ends once so many records were sent. */
  records?: number
  /**
   * No connection sends more than two requests more than any other. Without it, a kind of request that a server answers quickly would be
   * a larger part of its load than of another server's, and the two could not be compared.
   */
  inStep?: boolean
  /** Records to send in a second; as many as are answered, unless it is given. */
  perSecond?: number
}

export type LoadResult = {
  requests: number
  /** Records in requests that were answered 200, 201 or 207. */
  records: number
  /** Of these, how many were accepted, by type, and how many were refused. */
  accepted: Record<string, number>
  refused: number
  /** From the first request to the last answer. */
  seconds: number
  took: Latencies
  /** How many answers had each status. */
  statuses: Record<string, number>
  /** The first answer that was none of 200, 201, 207. */
  problem?: string
}

/** An accepted record, and when its answer arrived, in milliseconds since 1970. */
export type Answered = { type: string; id: string; at: number }

export type ToGenerator =
  | { kind: 'know'; type: string; count: number; url: string; key: string }
  | { kind: 'load'; plan: LoadPlan }
export type FromGenerator =
  | { kind: 'began' }
  | { kind: 'done'; result: LoadResult }
  | { kind: 'answered'; answered: Answered }
  | { kind: 'failed'; message: string }
