import { laneOf, partitionOfLane } from '#platform/kafka/partitions.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { type Layout, usualLayout } from '#schemas/derive/topics.js'
import { generationOf } from '#schemas/version.js'

/** What an event tells of where it comes from: null for what it does not tell. */
export type Origin = { orgId: string; id: string | null }

/**
 * The partitions of a type's submitted log that an event of this offset can come from: one, where its organisation and id tell the lane. Interactions
 * lie in any: they are spread, and led around a partition that does not move.
 */
export const partitionsBehind = (
  { catalogue, layouts }: { catalogue: Catalogue; layouts: readonly Layout[] },
  type: string,
  { orgId, id }: Origin,
  offset: number,
): number[] => {
  const generation = generationOf(offset)
  const { lanes, submittedPartitions: partitions } =
    layouts.find((layout) => (layout.generation ?? 0) === generation) ?? usualLayout
  if (type !== catalogue.interaction.type) {
    const possible = id === null ? Array.from({ length: lanes }, (_, lane) => lane) : [laneOf(id, lanes)]
    return possible.map((lane) => partitionOfLane(orgId, lane, partitions))
  }
  return Array.from({ length: partitions }, (_, partition) => partition)
}
