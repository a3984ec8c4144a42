import { stringify } from 'yaml'
import type { Catalogue } from '../../catalogue.js'
import { weirVersion } from '../openapi.js'
import type { Layout, Topic } from '../topics.js'
import { localAddresses } from './consumers.js'
import { cleanupOf, publicTopicsOf, type TopicReference, topicReferenceOf } from './topic-reference.js'

/** The public topics as an AsyncAPI document, for a system that is so wide. */
export const asyncapiYaml = (catalogue: Catalogue, layout?: Layout): string =>
  // Lines are not folded: a description reads the same in a diff and in a terminal. No anchors: half of the tools lose them.
  stringify(asyncapiOf(catalogue, layout), { lineWidth: 0, aliasDuplicateObjects: false })

const asyncapiOf = (catalogue: Catalogue, layout?: Layout) => {
  const topics = topicReferenceOf(catalogue, layout && { layout })
  const configs = new Map(publicTopicsOf(catalogue, layout).map(({ name, config }) => [name, config]))
  const each = <T>(toValue: (topic: TopicReference) => T): Record<string, T> =>
    Object.fromEntries(topics.map((topic) => [topic.name, toValue(topic)]))
  return {
    asyncapi: '3.0.0',
    info: { title: 'Weir', version: weirVersion, description: intro },
    defaultContentType: 'avro/binary',
    servers,
    channels: each((topic) => ({
      address: topic.name,
      summary: topic.about,
      description: descriptionOf(topic),
      messages: { event: reference('messages', topic.name) },
      bindings: { kafka: topicBinding(topic, configs.get(topic.name) ?? {}) },
    })),
    operations: Object.fromEntries(
      topics.map(({ name }) => [
        `publish.${name}`,
        {
          action: 'send',
          channel: { $ref: `#/channels/${name}` },
          messages: [{ $ref: `#/channels/${name}/messages/event` }],
        },
      ]),
    ),
    components: {
      messages: each((topic) => ({
        name: fullNameOf(topic),
        summary: topic.about,
        contentType: 'avro/binary',
        payload: { schemaFormat: 'application/vnd.apache.avro+json;version=1.9.0', schema: topic.schema },
        bindings: { kafka: messageBinding(topic) },
      })),
      securitySchemes: { login: { type: 'scramSha512', description: 'A user and a password, from the operator.' } },
    },
  }
}

const reference = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })

const fullNameOf = ({ schema }: TopicReference): string => {
  const { namespace, name } = schema as { namespace: string; name: string }
  return `${namespace}.${name}`
}

const descriptionOf = ({ retention, promises }: TopicReference): string =>
  [...promises, `Kept: ${retention}.`].map((line) => `- ${line}`).join('\n')

const bindingVersion = '0.5.0'

const topicBinding = ({ name, partitions }: TopicReference, config: Topic['config']) => {
  const numbers = Object.entries(config).filter(([key]) => ['retention.ms', 'max.message.bytes'].includes(key))
  return {
    topic: name,
    partitions,
    topicConfiguration: {
      'cleanup.policy': [cleanupOf(config)],
      ...Object.fromEntries(numbers.map(([key, value]) => [key, Number(value)])),
    },
    bindingVersion,
  }
}

const messageBinding = ({ key }: TopicReference) => ({
  key: { type: 'string', description: `${key}, as UTF-8` },
  schemaIdLocation: 'payload',
  schemaIdPayloadEncoding: 'confluent',
  schemaLookupStrategy: 'TopicNameStrategy',
  bindingVersion,
})

const servers = {
  local: {
    host: localAddresses.brokers,
    protocol: 'kafka',
    description: 'As `npm start` runs it: on this machine only, without TLS and without a login.',
    bindings: {
      kafka: {
        schemaRegistryUrl: localAddresses.registry,
        schemaRegistryVendor: 'confluent',
        bindingVersion,
      },
    },
  },
  yours: {
    host: '{brokers}',
    protocol: 'kafka-secure',
    description:
      'A Kafka of your own, with TLS and a login. Its operator gives you the addresses, a user and the registry.',
    variables: { brokers: { description: 'where it is', default: 'kafka.example.com:9093' } },
    security: [reference('securitySchemes', 'login')],
  },
}

const intro = `What downstream teams can subscribe to: accepted records, interactions and refused records, as Avro on Kafka. Weir's other topics are its own and may change with any version.

A value is a zero byte, the number of its schema in the registry in 4 bytes, and the event in Avro's binary form; every client that speaks to a Confluent registry reads it. There are no headers. docs/for-downstream-teams.md has consumers to copy.`
