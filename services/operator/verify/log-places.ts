import { laneOf, partitionOfLane } from '#platform/kafka/partitions.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { Layout } from '#schemas/derive/topics.js'

/** What an event tells of where it comes from: null for what it does not tell. */
export type Origin = { orgId: string; id: string | null }

/**
 * The partitions of a type's submitted log that an event can come from: one, where its organisation and id tell the lane. Interactions
 * lie in any: they are spread, and led around a partition that does not move.
 */
export const partitionsBehind = (
  { catalogue, layout }: { catalogue: Catalogue; layout: Layout },
  type: string,
  { orgId, id }: Origin,
): number[] => {
  const { lanes, submittedPartitions: partitions } = layout
  if (type !== catalogue.interaction.type) {
    const possible = id === null ? Array.from({ length: lanes }, (_, lane) => lane) : [laneOf(id, lanes)]
    return possible.map((lane) => partitionOfLane(orgId, lane, partitions))
  }
  return Array.from({ length: partitions }, (_, partition) => partition)
}
