import type { Group } from '#platform/kafka/committed-offsets.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { integrityGroupOf, submittedTopic } from '#schemas/derive/names.js'

/** Two groups, so that an interaction never waits for the fetch of a large upload to be done with. */
export const groupsOf = (catalogue: Catalogue): { uploads: Group; interactions: Group } => ({
  uploads: { groupId: integrityGroupOf(), topics: [...catalogue.uploads.keys()].map(submittedTopic) },
  interactions: {
    groupId: integrityGroupOf(catalogue.interaction.type),
    topics: [submittedTopic(catalogue.interaction.type)],
  },
})
