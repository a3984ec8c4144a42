import type { Kafka } from '#platform/kafka/kafka.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { inSyncOf, type Layout, type Topic, topicsOf } from '#schemas/derive/topics.js'
import { fewestCopies, topicResource } from '../provision/topics.js'
import { type Examined, type Finding, unless, warning, wrong } from './finding.js'

type Settings = ReadonlyMap<string, string>

export type KafkaFacts = {
  brokers: number
  declared: readonly Topic[]
  /** The topics that are there: their partitions, the copies of the partition with the fewest, their settings. */
  topics: ReadonlyMap<string, { partitions: number; copies: number; settings: Settings }>
  /** Copies of the topic in which Kafka keeps the groups' offsets; undefined before there was a group. */
  offsetsCopies: number | undefined
  /** The settings of a broker. */
  broker: Settings
  /** KAFKA_SESSION_TIMEOUT_MS */
  sessionTimeout: number
}

// Kafka's own number for a broker, where settings are asked for.
const brokerResource = 4
const offsetsTopic = '__consumer_offsets'

export const lookAtKafka = async (
  kafka: Kafka,
  asked: { catalogue: Catalogue; layout: Layout; sessionTimeout: number },
): Promise<KafkaFacts> =>
  kafka.withAdmin(async (admin) => {
    const declared = topicsOf(asked.catalogue, asked.layout)
    const { brokers } = await admin.describeCluster()
    const there = new Set(await admin.listTopics())
    const present = declared.filter(({ name }) => there.has(name)).map(({ name }) => name)
    const known = there.has(offsetsTopic) ? [...present, offsetsTopic] : present
    const metadata = known.length > 0 ? (await admin.fetchTopicMetadata({ topics: known })).topics : []
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [
        ...present.map((name) => ({ type: topicResource, name })),
        { type: brokerResource, name: String(brokers[0]?.nodeId ?? 0) },
      ],
    })
    const settingsOf = (name: string, type: number): Settings => {
      const found = resources.find((each) => each.resourceName === name && each.resourceType === type)
      return new Map(found?.configEntries.map(({ configName, configValue }) => [configName, configValue]))
    }
    const copies = fewestCopies(metadata)
    return {
      ...{ brokers: brokers.length, declared, sessionTimeout: asked.sessionTimeout },
      topics: new Map(
        present.map((name) => [
          name,
          {
            partitions: metadata.find((each) => each.name === name)?.partitions.length ?? 0,
            copies: copies.get(name) ?? 1,
            settings: settingsOf(name, topicResource),
          },
        ]),
      ),
      offsetsCopies: copies.get(offsetsTopic),
      broker: settingsOf(String(brokers[0]?.nodeId ?? 0), brokerResource),
    }
  })

export const examineKafka = (facts: KafkaFacts): Examined => ({
  part: 'Kafka',
  about: `${facts.brokers} broker${facts.brokers === 1 ? '' : 's'}, ${facts.topics.size} topics of Weir`,
  findings: [...gather(facts.declared.flatMap((topic) => ofTopic(topic, facts))), ...ofCluster(facts)],
})

type OfTopic = Finding & { topic: string }

const provision = '"weir provision" sets it'

const ofTopic = ({ name, partitions, config }: Topic, { topics }: KafkaFacts): OfTopic[] => {
  const found = topics.get(name)
  if (!found) return [{ topic: name, ...wrong('a topic is not there', '"weir provision" makes it') }]
  const inSync = Number(found.settings.get('min.insync.replicas'))
  const others = Object.entries(config).filter(([key, value]) => found.settings.get(key) !== value)
  return [
    ...others.map(([key, value]) => wrong(`${key} is ${found.settings.get(key)} instead of ${value}`, provision)),
    ...unless([
      [
        found.partitions === partitions,
        wrong(
          `it has ${found.partitions} partitions instead of ${partitions}`,
          'docs/runbook.md, "A partition was added by hand"',
        ),
      ],
      [
        inSync >= inSyncOf(found.copies),
        wrong(
          `min.insync.replicas is ${inSync} with ${found.copies} copies: an acknowledged message may be lost`,
          provision,
        ),
      ],
      [
        inSync <= found.copies,
        wrong(`min.insync.replicas is ${inSync} with ${found.copies} copies: nothing can be written`, provision),
      ],
    ]),
  ].map((finding) => ({ topic: name, ...finding }))
}

/** What many topics have in common is said once. */
const gather = (found: readonly OfTopic[]): Finding[] => {
  const same = new Map<string, OfTopic[]>()
  for (const one of found) same.set(one.what, [...(same.get(one.what) ?? []), one])
  return [...same.values()].flatMap((all) => {
    const [first] = all
    if (!first) return []
    const more = all.length > 1 ? ` and ${all.length - 1} more` : ''
    return [{ level: first.level, what: `${first.topic}${more}: ${first.what}`, mend: first.mend }]
  })
}

const sevenDays = 7 * 24 * 60

const ofCluster = (facts: KafkaFacts): Finding[] => {
  const { broker, brokers, topics, offsetsCopies, sessionTimeout } = facts
  const number = (name: string): number => Number(broker.get(name) ?? Number.NaN)
  const fewest = Math.min(...[...topics.values()].map(({ copies }) => copies))
  const wanted = Math.min(3, brokers)
  // A setting that a broker does not tell (a managed Kafka hides some) is not judged.
  const least = (name: string, value: number): boolean => !(number(name) < value)
  return unless([
    [
      fewest !== 1 || brokers > 1 || number('log.flush.interval.messages') === 1,
      warning(
        'one broker alone, which acknowledges messages before they are on its disk: a machine that loses power loses them',
        'set log.flush.interval.messages=1 on the broker, or run three and KAFKA_REPLICATION=3',
      ),
    ],
    [
      !(fewest === 1 && brokers > 1),
      wrong(
        `${brokers} brokers, and topics with one copy: a disk that dies takes what was acknowledged`,
        'add copies with kafka-reassign-partitions.sh, then "weir provision"; KAFKA_REPLICATION=3 for topics that are made from now on',
      ),
    ],
    [
      fewest !== 2,
      warning('topics have two copies: one broker away stops all uploads', 'run three brokers and KAFKA_REPLICATION=3'),
    ],
    [
      !(offsetsCopies !== undefined && offsetsCopies < wanted),
      wrong(
        `${offsetsTopic} has ${offsetsCopies} copies on ${brokers} brokers: without that broker no group works`,
        `add copies with kafka-reassign-partitions.sh; offsets.topic.replication.factor=${wanted} for a new cluster`,
      ),
    ],
    [
      broker.get('auto.create.topics.enable') !== 'true',
      warning(
        'a topic that somebody asks for by a mistyped name is made',
        'set auto.create.topics.enable=false on the brokers',
      ),
    ],
    [
      broker.get('unclean.leader.election.enable') !== 'true',
      warning(
        'a copy that lacks messages may lead, also of the topic that keeps the offsets of groups',
        'set unclean.leader.election.enable=false on the brokers',
      ),
    ],
    [
      !(number('group.min.session.timeout.ms') > sessionTimeout),
      wrong(
        `the brokers allow no session below ${number('group.min.session.timeout.ms')} ms, and KAFKA_SESSION_TIMEOUT_MS is ${sessionTimeout}: no service can join its group`,
        `set KAFKA_SESSION_TIMEOUT_MS=${number('group.min.session.timeout.ms')}, or lower group.min.session.timeout.ms on the brokers`,
      ),
    ],
    [
      least('offsets.retention.minutes', sevenDays),
      warning(
        `a group without members is forgotten after ${number('offsets.retention.minutes')} minutes; then integrity and sink read everything again`,
        `set offsets.retention.minutes=${sevenDays} on the brokers`,
      ),
    ],
  ])
}
