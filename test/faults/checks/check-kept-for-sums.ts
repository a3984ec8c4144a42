import { catalogue } from '#schemas/catalogue.js'
import { acceptedTopic } from '#schemas/derive/names.js'
import { maskedFieldsOf, staysWithoutPerson, typesOfPersons } from '#schemas/persons/about-persons.js'
import type { Observed, Row } from '../observe/observed.js'
import type { Ledger, ToldInteraction } from '../workload/ledger.js'
import { idFieldOf } from '../workload/plan.js'
import type { Check, Finding } from './finding.js'
import { allWritesOf, groupBy, keyOf, type Write } from './writes.js'

const { interaction } = catalogue
const staying = new Map(
  typesOfPersons(catalogue)
    .filter(staysWithoutPerson)
    .map((type) => [type.type, type]),
)

/**
 * What stays for sums of who was pseudonymised, by `type org/id`: each as it was sent, but without the person. Of those who are taken as somebody new
 * some are doubtful, in either mode: they were sent while it was going on, and taken before or after it, which nobody was told.
 */
const keptForSums = (ledger: Ledger) => {
  const whose = (org: string, record: Record<string, unknown>) =>
    ledger.erasures.find(
      (each) => each.org === org && Object.values(record).some((value) => each.names.includes(String(value))),
    )
  const writes = new Map<string, Write>()
  const doubtful = new Set<string>()
  for (const [key, all] of groupBy(allWritesOf(ledger), (write) => `${write.type} ${keyOf(write)}`)) {
    const newest = all.findLast(({ codes, waited }) => codes === undefined && !waited)
    const erasure = newest && !newest.asNew && whose(newest.org, newest.record)
    if (!erasure) continue
    if (newest.expected === 'erased' && erasure.afterwards === 'new') doubtful.add(key)
    else if (erasure.mode === 'pseudonymise' && staying.has(newest.type)) writes.set(key, newest)
  }
  const touches = new Map<string, ToldInteraction>()
  for (const told of ledger.interactions)
    if (told.interactionId && !told.step.asNew && whose(told.org, told.step.body)?.mode === 'pseudonymise')
      touches.set(`${interaction.type} ${told.org}/${told.interactionId}`, told)
  return { writes, touches, doubtful }
}

/** It is there once, in its view and as the last word of its topic, with all but the person. */
export const checkKeptForSums: Check = (ledger, observed) => {
  const { writes, touches } = keptForSums(ledger)
  const sent = [
    ...[...writes].map(([key, { type, record }]) => ({ key, type, record })),
    ...[...touches].map(([key, { step }]) => ({ key, type: interaction.type, record: step.body })),
  ]
  const rows = groupBy(rowsOf(observed), ({ name }) => name)
  const events = groupBy(
    observed.topics.filter(({ topic }) => typeOn.has(topic)),
    ({ topic, key }) => `${typeOn.get(topic)} ${key}`,
  )
  return sent.flatMap(({ key, type, record }): Finding[] => {
    const inView = rows.get(key) ?? []
    const last = events.get(key)?.reduce((a, b) => (a.offset > b.offset ? a : b))
    const masked = maskedFieldsOf(staying.get(type) ?? interaction)
    const find = (where: string, there: Record<string, unknown>): Finding[] => [
      ...masked
        .filter((field) => (there[field] ?? null) !== null)
        .map((field) => ({ name: 'left-of-person', about: `${key} has ${field} ${where}` })),
      ...Object.keys(record)
        .filter((field) => !masked.includes(field) && !isTime(field) && there[field] !== record[field])
        .map((field) => ({
          name: 'wrong-for-sums',
          about: `${key} has ${field} ${there[field]} ${where}, and not ${record[field]}`,
        })),
    ]
    return [
      ...(inView.length === 1
        ? []
        : [{ name: 'lost-for-sums', about: `${key} is in its view ${inView.length} times` }]),
      ...(last ? [] : [{ name: 'lost-for-sums', about: `${key} is not on its topic` }]),
      ...inView.flatMap(({ row }) => find('in its view', row)),
      ...(last ? find('on its topic', last.value) : []),
    ]
  })
}

/** The world without it, for all other checks. */
export const withoutKept = (ledger: Ledger, observed: Observed): Observed => {
  const { writes, touches, doubtful } = keptForSums(ledger)
  const isOther = (key: string): boolean => !writes.has(key) && !touches.has(key) && !doubtful.has(key)
  const others = <T>(map: ReadonlyMap<string, T>) => new Map([...map].filter(([key]) => isOther(key)))
  return {
    ...observed,
    views: Object.fromEntries(
      Object.entries(observed.views).map(([type, rows]) => [type, rows.filter((row) => isOther(nameOf(type, row)))]),
    ),
    versions: others(observed.versions),
    histories: others(observed.histories),
    topics: observed.topics.filter(({ topic, key }) => isOther(`${typeOn.get(topic)} ${key}`)),
    feeds: observed.feeds.filter(({ org, type, id }) => isOther(`${type} ${org}/${id}`)),
  }
}

const typeOn = new Map([...catalogue.all.keys()].map((type) => [acceptedTopic(type), type]))

const nameOf = (type: string, row: Row): string =>
  `${type} ${row.org_id}/${row[type === interaction.type ? interaction.id : idFieldOf(type)]}`

const rowsOf = ({ views }: Observed): { name: string; row: Row }[] =>
  [...staying.keys()].flatMap((type) => (views[type] ?? []).map((row) => ({ name: nameOf(type, row), row })))

// Written in one way, and shown in another.
const isTime = (field: string): boolean => field === 'event_timestamp'
