// A version is a place in the submitted log, so that what is published a second time has the same version. It is a whole number of
// 53 bits, which JSON, Avro, ClickHouse and JavaScript all keep exactly:
//
//   4 bits  generation   which log of its type: 0 until a system is given another number of lanes, and then 1, 2, …
//  36 bits  offset       of the message that was decided
//  13 bits  index        of the record in that message's batch
//
// Generation 0 gives the numbers that were used before there were generations: offset × 8192 + index.

/** More than the indexes of any batch, counted from its first record on: a request holds fewer records. */
export const mostRecordsInBatch = 2 ** 13
/** 1000 batches a second fill a partition in two years; a new generation begins at offset 0 again. */
export const mostOffsets = 2 ** 36
export const mostGenerations = 2 ** 4

export type VersionedPlace = { generation: number; offset: number; index: number }

export const versionOf = (offset: number, index: number, generation = 0): number => {
  if (index >= mostRecordsInBatch || offset >= mostOffsets || generation >= mostGenerations)
    throw new Error(`no version is left for index ${index} at offset ${offset} of generation ${generation}`)
  return (generation * mostOffsets + offset) * mostRecordsInBatch + index
}

/** The place that a version stands for. */
export const placeOfVersion = (version: number): VersionedPlace => {
  const place = Math.floor(version / mostRecordsInBatch)
  return {
    generation: Math.floor(place / mostOffsets),
    offset: place % mostOffsets,
    index: version % mostRecordsInBatch,
  }
}
