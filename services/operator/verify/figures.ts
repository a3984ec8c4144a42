/** What was counted of one type. */
export type Figures = {
  type: string
  /** Batches in the range, and the records in them. */
  batches: number
  records: number
  /** Records of batches that are not yet decided. */
  waiting: number
  /** Batches that repeat an earlier one, and batches whose verdict is too old to be kept. */
  repeats: number
  forgotten: number
  /** Newly: a keyed interaction that was taken before is not told again. */
  accepted: number
  refused: number
  /** Accepted records that were found on their topic, and refused ones on weir.rejected. */
  onTopic: number
  onRejected: number
  /** Keys on the topic since the range began, and those of them with their row in ClickHouse. */
  keys: number
  rows: number
  /** Events and rows that are on their way. */
  inFlight: number
  /** Accepted records whose event a newer one has replaced, and compaction removed. */
  compacted: number
  /** Messages that nobody can read. */
  unreadable: number
}

export const noFigures = (type: string): Figures => ({
  type,
  batches: 0,
  records: 0,
  waiting: 0,
  repeats: 0,
  forgotten: 0,
  accepted: 0,
  refused: 0,
  onTopic: 0,
  onRejected: 0,
  keys: 0,
  rows: 0,
  inFlight: 0,
  compacted: 0,
  unreadable: 0,
})
