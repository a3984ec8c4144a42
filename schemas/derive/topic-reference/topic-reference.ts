import type { Catalogue } from '../../catalogue.js'
import type { listTopics } from '../../endpoints/downstream/topics.js'
import type { AnswerOf } from '../../endpoints/endpoint.js'
import type { RecordType } from '../../record.js'
import { schemasByTopic } from '../avro.js'
import { acceptedTopic, erasuresTopic, rejectedTopic, submittedTopic, verdictsTopic } from '../names.js'
import { type Layout, type Topic, topicsOf, usualLayout } from '../topics.js'
import { eventNameOf } from '../typescript/event-types.js'
import { type ConsumerAddresses, consumersOf } from './consumers.js'

/** What a downstream team wants to know about a topic before it subscribes. */
export type TopicReference = AnswerOf<typeof listTopics>['topics'][number]

/** Every public topic of a system that is so wide; the snippets name these addresses. */
export const topicReferenceOf = (
  catalogue: Catalogue,
  { layout = usualLayout, addresses }: { layout?: Layout; addresses?: ConsumerAddresses } = {},
): TopicReference[] => {
  const schemas = schemasByTopic(catalogue.all.values())
  const typeOf = new Map([...catalogue.all.values()].map((type) => [acceptedTopic(type.type), type]))
  return publicTopicsOf(catalogue, layout).map(({ name, partitions, config }) => {
    const schema = schemas.get(name) as { doc: string }
    const type = typeOf.get(name)
    return {
      name,
      type: type?.type ?? null,
      key: type ? `<org_id>/<${type.id}>` : wordsOf(name).key,
      about: type?.about ?? schema.doc,
      retention: retentionIn(config),
      partitions,
      cleanup: cleanupOf(config),
      promises: [...(type ? promisesOf(catalogue, type) : wordsOf(name).promises), additions],
      schema,
      snippets: consumersOf({ topic: name, event: eventNameOf(schema), ...(addresses && { addresses }) }),
    }
  })
}

/** The topics that others may subscribe to. Those between Weir's own services may change with any version. */
export const publicTopicsOf = (catalogue: Catalogue, layout?: Layout): Topic[] =>
  topicsOf(catalogue, layout).filter(({ name }) => !name.startsWith(submittedTopic('')) && name !== verdictsTopic)

/** Kafka's own default is to delete. */
export const cleanupOf = (config: Topic['config']): string => config['cleanup.policy'] ?? 'delete'

const retentionIn = (config: Topic['config']): string =>
  cleanupOf(config) === 'compact'
    ? `the newest event of each key for ever, older ones for at least ${daysIn(config['min.compaction.lag.ms'])}`
    : daysIn(config['retention.ms'])

const daysIn = (milliseconds = '0'): string => `${Number(milliseconds) / (24 * 60 * 60 * 1000)} days`

const promisesOf = (catalogue: Catalogue, type: RecordType): string[] =>
  type === catalogue.interaction
    ? [
        'An interaction does not change, and interactions have no order among each other; event_timestamp says when each happened.',
        `An event may come again, the same each time: take each ${type.id} once.`,
      ]
    : [
        'All events of one record have one key and lie in one partition, in the order in which its uploads were decided. Between records there is no order: an event may come before that of a record it refers to.',
        'An event may come again, and, rarely, an older one after a newer one. Of two events with one key the one with the higher version counts; with the same version they are the same event.',
        'Read from the beginning, the topic gives the current state of every record, deleted ones too.',
        'A record that was deleted is an event with is_deleted true.',
        'A message without a value (a tombstone) says that the record of its key is gone, with all that came before. Deletes write none.',
      ]

/** Topics that hold records of every type. */
const wordsOf = (topic: string): { key: string; promises: string[] } => {
  const words = wordsByTopic[topic]
  if (!words)
    throw new Error(`nothing is said about the topic ${topic}: add its key and promises to topic-reference.ts`)
  return words
}

const wordsByTopic: Readonly<Record<string, { key: string; promises: string[] }>> = {
  [rejectedTopic]: {
    key: '<org_id>/<batch_id>/<index>',
    promises: [
      'A refusal is final: a record that is sent again later is decided anew, and has an event of its own.',
      'An event may come again, the same each time: take each pair of batch_id and index once.',
      'A message of one of our topics that cannot be decoded is here too, with the code undecodable, an empty org_id and only the batch_id as its key.',
    ],
  },
  [erasuresTopic]: {
    key: '<org_id>/<erasure_id>',
    promises: [
      'Each person that an organisation has had erased is an event, once nothing is left of that person here: now it is for you to erase what you have.',
      'It names nobody. Whoever has ids tells by the salted hashes whether one of them is meant.',
      'An event may come again: take each erasure_id once. They are kept for good.',
    ],
  },
  'weir.waiting': {
    key: '<org_id>/<id>/<version>',
    promises: [
      'Each change of what became of a waiting record is an event. Of those with one batch_id and index the one with the highest version says how it stands.',
      'An event may come again, the same each time, and changes that follow each other closely may be published as one.',
    ],
  },
}

const additions =
  'A schema only ever gains optional fields: readers of the old one and of the new one read all events. Ignore fields that you do not know.'
