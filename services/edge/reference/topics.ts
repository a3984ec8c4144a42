import type { Catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import { acceptedTopic, submittedTopic, verdictsTopic } from '#schemas/derive/names.js'
import { type Layout, type Topic, topicsOf } from '#schemas/derive/topics.js'

/**
 * The topics that others may subscribe to, as a downstream team reads about them: all but those that Weir's services talk to each
 * other through.
 */
export const topicReferencesOf = (catalogue: Catalogue, layout: Layout) => {
  const schemas = schemasByTopic(catalogue.all.values())
  const typeOf = new Map([...catalogue.all.values()].map((type) => [acceptedTopic(type.type), type]))
  return publicTopicsOf(catalogue, layout).map(({ name, partitions, config }) => {
    const type = typeOf.get(name)
    const schema = schemas.get(name) as { doc: string }
    return {
      name,
      type: type?.type ?? null,
      key: type ? `<org_id>/<${type.id}>` : '<org_id>',
      about: type?.about ?? schema.doc,
      retention: config['retention.ms'] ? `${Number(config['retention.ms']) / day} days` : 'the newest of each key',
      partitions,
      cleanup: config['cleanup.policy'] ?? 'delete',
      promises: [
        'All events of one key lie in one partition, in the order in which they were decided.',
        'An event may come again: of two events with one key the one with the higher version counts.',
      ],
      schema,
      snippets: snippetsOf(name),
    }
  })
}

export const publicTopicsOf = (catalogue: Catalogue, layout?: Layout): Topic[] =>
  topicsOf(catalogue, layout).filter(({ name }) => !name.startsWith(submittedTopic('')) && name !== verdictsTopic)

const day = 24 * 60 * 60 * 1000

const snippetsOf = (topic: string) => ({
  typescript: `const consumer = new Kafka({ brokers: ['127.0.0.1:9092'] }).consumer({ groupId: 'my-team' })
await consumer.subscribe({ topics: ['${topic}'], fromBeginning: true })
await consumer.run({ eachMessage: async ({ message }) => console.log(await registry.decode(message.value)) })`,
  python: `consumer = Consumer({'bootstrap.servers': '127.0.0.1:9092', 'group.id': 'my-team', 'auto.offset.reset': 'earliest'})
consumer.subscribe(['${topic}'])
print(deserialize(consumer.poll(10).value(), None))`,
  java: `consumer.subscribe(List.of("${topic}"));
for (var message : consumer.poll(Duration.ofSeconds(10))) System.out.println(message.value());`,
})
