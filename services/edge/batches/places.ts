import { partitionsOfOrg } from '#ledger/layout/layout.js'
import { partitionOf, partitionOfLane, placeOf } from '#platform/kafka/partitions.js'
import type { OutgoingBatch } from '#schemas/byte-path/byte-path.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { submittedTopic } from '#schemas/derive/names.js'
import type { Layout } from '#schemas/derive/topics.js'

/** What says where a batch goes. */
export type Placed = Pick<OutgoingBatch, 'org_id' | 'batch_id' | 'lane' | 'generation'>

/** The partitions of the submitted topics. Each is decided by itself: one may stand still while all others go on. */
export type Places = {
  /** The partition that a batch goes to. */
  partitionFor: (type: string, batch: Placed) => number
  /** The partitions that batches of an organisation may go to. */
  partitionsFor: (type: string, orgId: string) => readonly number[]
  /** A name for a partition of a type, as cursors have it. */
  placeOf: (type: string, partition: number) => string
}

/**
 * Interactions need no order among each other, so their batches are spread over all partitions. Only those with a key come again, and
 * meet where they were before: they are gathered by the partition that their id says, or go to the one that the id of their request
 * says, and have it as their lane. So have those that are led around a partition that does not move.
 */
export const createPlaces = ({ all: types, interaction }: Catalogue, layout: Layout): Places => {
  const { submittedPartitions: all, generation } = layout
  return {
    partitionFor: (type, { org_id, batch_id, lane }) =>
      type === interaction.type ? (lane ?? partitionOf(batch_id, all)) : partitionOfLane(org_id, lane ?? 0, all),
    partitionsFor: (type, orgId) => partitionsOfOrg(types.get(type) ?? {}, orgId, layout),
    placeOf: (type, partition) => placeOf({ topic: submittedTopic(type, generation), partition }),
  }
}
