import type { Kafka } from '#platform/kafka.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { integrityGroupOf, submittedTopic } from '#schemas/derive/names.js'

export type Group = { groupId: string; topics: string[] }
/** What lies below this offset was decided and told. */
export type Committed = { topic: string; partition: number; offset: number }

/** Two groups, so that an interaction never waits for the fetch of a large upload to be done with. */
export const groupsOf = (catalogue: Catalogue): { uploads: Group; interactions: Group } => ({
  uploads: { groupId: integrityGroupOf(), topics: [...catalogue.uploads.keys()].map(submittedTopic) },
  interactions: {
    groupId: integrityGroupOf(catalogue.interaction.type),
    topics: [submittedTopic(catalogue.interaction.type)],
  },
})

/** How far both groups are; a partition of which nothing was ever committed is not among them. */
export const committedOffsets = (kafka: Kafka, catalogue: Catalogue): Promise<Committed[]> =>
  kafka.withAdmin(async (admin) => {
    const committed: Committed[] = []
    for (const group of Object.values(groupsOf(catalogue))) {
      for (const { topic, partitions } of await admin.fetchOffsets(group)) {
        for (const { partition, offset } of partitions) {
          if (Number(offset) >= 0) committed.push({ topic, partition, offset: Number(offset) })
        }
      }
    }
    return committed
  })
