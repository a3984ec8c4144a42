// A version is a place in the submitted log, so that what is published a second time has the same version. It is a whole number of
// 53 bits, which JSON, Avro, ClickHouse and JavaScript all keep exactly:
//
//   4 bits  generation   which topics hold the log: 0 until a system is given another number of lanes, and then 1, 2, …
//  36 bits  offset       of the message that was decided
//  13 bits  index        of the record in that message's batch
//
// Both upper parts together are the offset as everything outside of Kafka's own adapter counts it: the topics of generation 1 are counted
// on from 2^36. Generation 0 gives the numbers that were used before there were generations: offset × 8192 + index.

/** More than the indexes of any batch, counted from its first record on: a request holds fewer records. */
export const mostRecordsInBatch = 2 ** 13
/** 1000 batches a second fill a partition in two years; a new generation begins at its offset 0 again. */
export const mostOffsets = 2 ** 36
export const mostGenerations = 2 ** 4

export type VersionedPlace = { offset: number; index: number }

export const versionOf = (offset: number, index: number): number => {
  if (index >= mostRecordsInBatch || offset >= mostOffsets * mostGenerations)
    throw new Error(`no version is left for index ${index} at offset ${offset}`)
  return offset * mostRecordsInBatch + index
}

/** The place that a version stands for. */
export const placeOfVersion = (version: number): VersionedPlace => ({
  offset: Math.floor(version / mostRecordsInBatch),
  index: version % mostRecordsInBatch,
})

/** Which topics of the log an offset belongs to. */
export const generationOf = (offset: number): number => Math.floor(offset / mostOffsets)
