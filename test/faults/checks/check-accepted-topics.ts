import { catalogue } from '#schemas/catalogue.js'
import { typesOfPersons } from '#schemas/persons/about-persons.js'
import type { Observed } from '../observe/observed.js'
import type { Seen } from '../observe/topics.js'
import { uploadTypes } from '../workload/plan.js'
import type { Check, Finding } from './finding.js'
import { acceptedOf, groupBy, keyOf, type Write } from './writes.js'

const ofPersons = new Set(typesOfPersons(catalogue).map(({ type }) => type))

/**
 * Every accepted write is on its topic at least once, with the one version that its place gives; and nothing else is. Where an erasure had the
 * topic compacted, that is so of the newest write of each record.
 */
export const checkAcceptedTopics: Check = (ledger, observed) => {
  const writes = acceptedOf(ledger, observed)
  return uploadTypes.flatMap((type) => {
    const events = observed.topics.filter(({ topic }) => topic === `weir.accepted.${type}`)
    // With the key: records of one batch that waited while the lanes were changed may be decided at the same place of several lanes.
    const found = groupBy(events, ({ key, value }) => `${value.batch_id} ${value.version} ${key}`)
    const accepted = writes.filter((write) => write.type === type)
    const isCompacted = ledger.erasures.length > 0 && ofPersons.has(type)
    const versionsOf = groupBy(accepted, keyOf)
    const newest = (key: string) => Math.max(...(versionsOf.get(key) ?? []).map(({ version }) => version))
    const wanted = new Map(accepted.map((write) => [`${write.batchId} ${write.version} ${keyOf(write)}`, write]))
    return [
      ...[...wanted]
        .filter(([name, write]) => !isCompacted || found.has(name) || write.version === newest(keyOf(write)))
        .flatMap(([name, write]) => compare(write, name, found.get(name) ?? [])),
      ...[...found]
        .filter(([name]) => !wanted.has(name))
        .map(([name, [event]]) => ({
          name: 'stranger-on-topic',
          about: `${type} ${event?.key}: batch and version ${name}`,
        })),
      ...checkOrder(type, events, observed, (key) =>
        isCompacted ? (versionsOf.get(key) ?? []).map(({ version }) => version) : undefined,
      ),
    ]
  })
}

const compare = (write: Write, name: string, events: Seen[]): Finding[] => {
  const about = `${write.type} ${keyOf(write)}, ${write.record.name}, batch and version ${name}`
  const [first] = events
  if (!first) return [{ name: 'lost-from-topic', about }]
  const wrong = Object.keys(write.record).filter((field) => first.value[field] !== write.record[field])
  return [
    ...(first.key === keyOf(write) && wrong.length === 0
      ? []
      : [{ name: 'wrong-on-topic', about: `${about}: ${wrong}` }]),
    ...(events.every(({ bytes }) => bytes === first.bytes) ? [] : [{ name: differenceOf(events), about }]),
  ]
}

/** Where Postgres went back, the same is decided once more, at another time. Nothing else may ever differ. */
const differenceOf = (events: Seen[]): string => {
  const forms = new Set(events.map(({ bytes }) => bytes)).size
  const times = new Set(events.map(({ value }) => String(value.accepted_at))).size
  const rests = new Set(events.map(({ value }) => JSON.stringify({ ...value, accepted_at: null }))).size
  return forms === times && rests === 1 ? 'decided-again' : 'differing-events'
}

/** The last event of a key has its highest version, and that is what ClickHouse holds; its history has each version once. */
const checkOrder = (
  type: string,
  events: Seen[],
  { versions, histories }: Observed,
  written: (key: string) => number[] | undefined,
): Finding[] =>
  [...groupBy(events, ({ key }) => key)].flatMap(([key, all]): Finding[] => {
    const published = [...new Set(all.map(({ value }) => Number(value.version)))].sort((a, b) => a - b)
    const highest = published.at(-1) as number
    const wanted = [...new Set(written(key) ?? published)].sort((a, b) => a - b)
    const history = histories.get(`${type} ${key}`) ?? []
    const last = Number(all.reduce((a, b) => (a.offset > b.offset ? a : b)).value.version)
    const held = versions.get(`${type} ${key}`)
    return [
      ...(last === highest
        ? []
        : [{ name: 'late-event', about: `${type} ${key} ends with ${last}, after ${highest}` }]),
      ...(held === highest
        ? []
        : [{ name: 'clickhouse-disagrees', about: `${type} ${key} is at ${held}, on its topic at ${highest}` }]),
      ...(String(history) === String(wanted)
        ? []
        : [{ name: 'history-disagrees', about: `${type} ${key} has ${history}, and should have ${wanted}` }]),
    ]
  })
