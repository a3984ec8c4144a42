import { fieldsOf } from '#platform/schema-fields.js'
import { submittedTopic, verdictsTopic } from '#schemas/derive/names.js'
import type { Topic } from '#schemas/derive/topics.js'
import { breakingInAvro } from '../release/contracts.js'
import { adds, breaks, type PublishedChange, type PublishedFiles } from './change.js'

/** Events and topics. Of those between Weir's own services only what would break them during an upgrade. */
export const changesInTopics = (before: PublishedFiles, after: PublishedFiles): PublishedChange[] => {
  const [old, now] = [schemasIn(before), schemasIn(after)]
  const topics = [...new Set([...old.keys(), ...now.keys()])].sort()
  return topics
    .flatMap((topic) => {
      const changes = changesIn(topic, old.get(topic), now.get(topic))
      return isPublic(topic) ? changes : changes.filter(({ breaking }) => breaking)
    })
    .concat(changesInConfig(topicsIn(before), topicsIn(after)))
}

const isPublic = (topic: string): boolean => !topic.startsWith(submittedTopic('')) && topic !== verdictsTopic

const schemasIn = (files: PublishedFiles): Map<string, unknown> =>
  new Map(
    [...files].flatMap(([path, text]): [string, unknown][] => {
      const [, topic] = /^schemas\/published\/(.+)\.avsc$/.exec(path) ?? []
      return topic === undefined ? [] : [[topic, JSON.parse(text)]]
    }),
  )

const changesIn = (topic: string, before: unknown, after: unknown): PublishedChange[] => {
  if (before === undefined) return [adds(`the topic ${topic} is new`)]
  if (after === undefined) return [breaks(`the topic ${topic} is gone`)]
  const named = changesInFields(topic, before, after)
  // A word of an Avro enum, for example, is no field: Avro itself has the last word.
  const unnamed = named.some(({ breaking }) => breaking) ? [] : breakingInAvro({ [topic]: before }, { [topic]: after })
  return [...named, ...unnamed.map(breaks)]
}

const changesInFields = (topic: string, before: unknown, after: unknown): PublishedChange[] => {
  const [old, now] = [fieldsOf(before), fieldsOf(after)]
  // Of a new list of records its name says enough.
  const isWithin = (path: string, others: ReadonlyMap<string, unknown>): boolean =>
    path.includes('.') && !others.has(path.slice(0, path.lastIndexOf('.')))
  const kept = [...old].flatMap(([path, { kinds }]) => {
    const same = now.get(path)
    if (!same)
      return isWithin(path, now) ? [] : [breaks(`${topic}: the field ${path} is gone, which "weir provision" refuses`)]
    const [was, is] = [inWords(kinds), inWords(same.kinds)]
    return was === is ? [] : [breaks(`${topic}: the field ${path} was ${was} and is ${is}`)]
  })
  const added = [...now].flatMap(([path, { kinds, hasDefault }]) => {
    if (old.has(path) || isWithin(path, old)) return []
    return hasDefault
      ? [adds(`${topic}: the field ${path} is new and optional: ${inWords(kinds)}`)]
      : [
          breaks(
            `${topic}: the field ${path} is new and always there, so that events from before cannot be read with it`,
          ),
        ]
  })
  return [...kept, ...added]
}

/** With null last, as people say it. */
const inWords = (kinds: readonly string[]): string =>
  [...kinds]
    .sort((one, other) => Number(one === 'null') - Number(other === 'null') || (one < other ? -1 : 1))
    .join(' or ')

const topicsIn = (files: PublishedFiles): Topic[] =>
  JSON.parse(files.get('schemas/published/topics.json') ?? '[]') as Topic[]

/** What a system that is there takes over when it is provisioned again; its number of partitions never changes. */
const changesInConfig = (before: readonly Topic[], after: readonly Topic[]): PublishedChange[] =>
  before
    .filter(({ name }) => isPublic(name))
    .flatMap(({ name, config }) => {
      const now = after.find((topic) => topic.name === name)?.config
      if (!now) return []
      return [...new Set([...Object.keys(config), ...Object.keys(now)])].flatMap((key) => {
        const [was, is] = [config[key], now[key]]
        if (was === is) return []
        const isLonger = key.endsWith('.ms') && (is === undefined || Number(is) > Number(was))
        return [{ breaking: !isLonger, about: `${name}: ${key} was ${was ?? 'not set'} and is ${is ?? 'not set'}` }]
      })
    })
