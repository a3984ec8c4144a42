import { dataRead } from '../derive/scopes.js'
import { endpoint, textOf } from './endpoint.js'
import {
  anyObject,
  count,
  instant,
  integer,
  limitTo,
  list,
  named,
  nullable,
  object,
  type Schema,
  text,
} from './values.js'

// The public topics, and the events on them.

const avroSchema: Schema = { type: 'object', description: 'the Avro schema of the values' }
const topicReference = named(
  'TopicReference',
  object({
    name: text(),
    type: nullable(text(), 'null where it holds records of every type'),
    key: text('what the key of a message is made of'),
    about: text(),
    retention: text('how long events are kept'),
    partitions: integer(1),
    cleanup: text("Kafka's word for what happens to old events"),
    promises: list(text(), 'what holds for order and duplicates'),
    schema: avroSchema,
    snippets: object({ typescript: text(), python: text(), java: text() }),
  }),
)

export const listTopics = endpoint('GET', '/v1/topics', 'list-topics', 'reference', {
  summary: 'Every public topic',
  about:
    'What downstream teams can subscribe to: key, Avro schema, partitions, what is promised, and a consumer to copy.',
  answers: { 200: { about: 'Every public topic', schema: object({ topics: list(topicReference) }) } },
})

export const topicEvent = named(
  'TopicEvent',
  object({
    partition: count(),
    offset: count(),
    at: instant,
    key: nullable(text()),
    value: anyObject("as the topic's schema says"),
  }),
)
const none: Schema<null> = { type: 'null' }

export const listTopicEvents = endpoint('GET', '/v1/topics/{topic}/events', 'list-topic-events', 'requests', {
  summary: 'The last events of yours on a topic',
  about: 'As subscribers read them, decoded, newest last; from the last 2000 events of the topic at the most.',
  scope: dataRead,
  parameters: { topic: text() },
  query: { limit: limitTo(100, 20) },
  answers: { 200: { about: 'The events.', schema: object({ events: list(topicEvent), next: none }) } },
})

export const watchTopic = endpoint('GET', '/v1/topics/{topic}/events/live', 'watch-topic', 'requests', {
  summary: 'Your events on a topic, as they are published',
  about:
    'Server-sent events: `event`, first the last 20, then new ones (`TopicEvent`). Of very many at once only the last are sent, after `skipped` with their `count`. It ends as `/v1/live` does.',
  scope: dataRead,
  parameters: { topic: text() },
  answers: {
    200: {
      about: 'The events.',
      content: textOf(
        'text/event-stream',
        { anyOf: [topicEvent, object({ count: count('of events that are not sent') })] },
        'event: skipped\ndata: {"count":480}\n\n',
      ),
    },
  },
})
