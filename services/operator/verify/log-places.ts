import { laneOf, partitionOf, partitionOfLane } from '#platform/kafka/partitions.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { Layout } from '#schemas/derive/topics.js'

/** What an event tells of where it comes from: null for what it does not tell. */
export type Origin = { orgId: string; id: string | null; batchId: string | null }

/**
 * The partitions of a type's submitted log that an event can come from: one, where its organisation and id tell the lane. Interactions
 * lie where their batch's id says, or their own if they came with a key; before they were spread, where their organisation says.
 */
export const partitionsBehind = (
  { catalogue, layout }: { catalogue: Catalogue; layout: Layout },
  type: string,
  { orgId, id, batchId }: Origin,
): number[] => {
  const { lanes, submittedPartitions: partitions } = layout
  if (type !== catalogue.interaction.type) {
    const possible = id === null ? Array.from({ length: lanes }, (_, lane) => lane) : [laneOf(id, lanes)]
    return possible.map((lane) => partitionOfLane(orgId, lane, partitions))
  }
  if (id === null || batchId === null) return Array.from({ length: partitions }, (_, partition) => partition)
  return [...new Set([batchId, id, orgId].map((key) => partitionOf(key, partitions)))]
}
