import { dataRead } from '../../derive/scopes.js'
import { answered, endpoint, textOf } from '../endpoint.js'
import * as v from '../values.js'

// The public topics, and the events on them.

const avroSchema: v.Schema = { type: 'object', description: 'the Avro schema of the values' }
const topicReference = v.named('TopicReference', {
  name: v.text(),
  type: v.nullable(v.text(), 'null where it holds records of every type'),
  key: v.text('what the key of a message is made of'),
  about: v.text(),
  retention: v.text('how long events are kept'),
  partitions: v.integer(1),
  cleanup: v.text("Kafka's word for what happens to old events"),
  promises: v.list(v.text(), 'what holds for order and duplicates'),
  schema: avroSchema,
  snippets: v.object({ typescript: v.text(), python: v.text(), java: v.text() }),
})

export const listTopics = endpoint('GET', '/v1/topics', 'list-topics', 'reference', {
  summary: 'Every public topic',
  about:
    'What downstream teams can subscribe to: key, Avro schema, partitions, what is promised, and a consumer to copy.',
  answers: answered('Every public topic', v.object({ topics: v.list(topicReference) })),
})

export const topicEvent = v.named('TopicEvent', {
  partition: v.count(),
  offset: v.count(),
  at: v.instant,
  key: v.nullable(v.text()),
  value: v.anyObject("as the topic's schema says"),
})
const none: v.Schema<null> = { type: 'null' }

export const listTopicEvents = endpoint('GET', '/v1/topics/{topic}/events', 'list-topic-events', 'requests', {
  summary: 'The last events of yours on a topic',
  about: 'As subscribers read them, decoded, newest last; from the last 2000 events of the topic at the most.',
  scope: dataRead,
  parameters: { topic: v.text() },
  query: { limit: v.limitTo(100, 20) },
  answers: answered('The events.', v.object({ events: v.list(topicEvent), next: none })),
})

export const watchTopic = endpoint('GET', '/v1/topics/{topic}/events/live', 'watch-topic', 'requests', {
  summary: 'Your events on a topic, as they are published',
  about:
    'Server-sent events: `event`, first the last 20, then new ones (`TopicEvent`). Of very many at once only the last are sent, after `skipped` with their `count`. It ends as `/v1/live` does.',
  scope: dataRead,
  parameters: { topic: v.text() },
  answers: {
    200: {
      about: 'The events.',
      content: textOf(
        'text/event-stream',
        { anyOf: [topicEvent, v.object({ count: v.count('of events that are not sent') })] },
        'event: skipped\ndata: {"count":480}\n\n',
      ),
    },
  },
})
