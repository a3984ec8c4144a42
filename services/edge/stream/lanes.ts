import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { submittedSchema } from '#schemas/derive/avro.js'
import { subjectOf, submittedTopic } from '#schemas/derive/names.js'
import { partitionsOf } from '#schemas/derive/topics.js'
import type { SubmittedBatch } from '#schemas/events.js'
import type { Lane } from './publisher.js'

/** The submitted topic of each type. Schemas were registered when the topics were made; here they must be known. */
export const openLanes = async (catalogue: Catalogue, registry: Registry): Promise<(type: string) => Lane> => {
  const lanes = new Map<string, Lane>()
  for (const [name, type] of catalogue.all) {
    const topic = submittedTopic(name)
    const encode = await registry.encoder<SubmittedBatch>(subjectOf(topic), submittedSchema(type))
    lanes.set(name, { topic, encode, partitions: partitionsOf(catalogue, topic) })
  }
  return (type) => {
    const lane = lanes.get(type)
    if (!lane) throw new Error(`nothing is called ${type}`)
    return lane
  }
}
