import { type Committed, committedOffsets } from '#platform/kafka/committed-offsets.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { groupsOf } from '#schemas/derive/topics.js'
import { type Generation, publishedOf, toDecide } from './layout.js'

/** Up to where everything of the submitted log is published: what integrity's groups have committed, and all of finished generations. */
export const publishedOffsets = async (
  kafka: Kafka,
  catalogue: Catalogue,
  generations: readonly Generation[],
): Promise<Committed[]> => [
  ...publishedOf(generations),
  ...(await committedOffsets(kafka, Object.values(groupsOf(catalogue, toDecide(generations)?.generation)))),
]
