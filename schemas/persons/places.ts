import type { Catalogue } from '../catalogue.js'
import * as relations from '../derive/clickhouse/relations.js'
import * as names from '../derive/names.js'
import { topicsOf } from '../derive/topics.js'
import { marts } from '../marts/all.js'
import type { Mart } from '../marts/mart.js'
import { purchaseColumns } from '../marts/sources.js'
import { columnsOf, hasVersions, type RecordType } from '../record.js'
import { maskedFieldsOf, personalFieldsOf, personFieldsOf } from './about-persons.js'
import { personColumns } from './masks.js'
import { type KeptPlace, nothing } from './place.js'

// What the topics and the tables in ClickHouse keep of persons: derived from what the fields say, so that a new type or field is in it.

/** Every topic. Its name is its key. */
export const topicPlaces = (catalogue: Catalogue): Map<string, KeptPlace> => {
  const kept = new Map(topicsOf(catalogue).map(({ name, config }) => [name, keptOn(config)]))
  const at = (topic: string, place: Omit<KeptPlace, 'kept'>): [string, KeptPlace] => [
    topic,
    { ...place, kept: kept.get(topic) ?? '' },
  ]
  const ofTypes = [...catalogue.all.values()].flatMap((type): [string, KeptPlace][] => [
    at(names.submittedTopic(type.type), {
      holds: isOfPersons(type)
        ? `every batch as it came: ${aboutPersonsIn(type)}; refused records as they were sent`
        : 'refused records as they were sent, in which somebody may have written anything',
      form: 'as sent',
      why: 'everything else is decided and made again from it',
    }),
    isOfPersons(type)
      ? at(names.acceptedTopic(type.type), {
          holds: aboutPersonsIn(type),
          form: formIn(type),
          why: 'downstream teams read it, and ClickHouse is made again from it',
        })
      : [names.acceptedTopic(type.type), nothing(`accepted ${type.type}`)],
  ])
  return new Map([
    ...ofTypes,
    at(names.rejectedTopic, {
      holds: 'refused records as they were sent, also such as are set aside because their bytes cannot be read',
      form: 'as sent',
      why: 'they can be mended and sent again',
    }),
    at(names.verdictsTopic, {
      holds: 'the ids of records that were refused or wait, and what was wrong with them',
      form: 'pseudonym',
      why: 'the edge answers requests from it',
    }),
    at(names.erasuresTopic, {
      holds: 'that a person was erased: salted hashes of the ids, by which nobody is known who does not have them',
      form: 'pseudonym',
      why: 'downstream teams erase what they have',
    }),
    at(names.waitingTopic, {
      holds: 'the ids of records that wait or waited, and of customers that they wait for',
      form: 'pseudonym',
      why: 'downstream teams and ClickHouse see what waits',
    }),
  ])
}

const keptOn = (config: Readonly<Record<string, string>>): string =>
  config['cleanup.policy'] === 'compact'
    ? `the newest event of each record for good, older ones for ${daysOf(config['min.compaction.lag.ms'])} at least`
    : daysOf(config['retention.ms'])

const daysOf = (ms: string | undefined): string => {
  const days = Number(ms) / (24 * 60 * 60 * 1000)
  return days === 1 ? 'a day' : `${days} days`
}

/** Every table in ClickHouse, by its name in the database. Views keep nothing. */
export const clickhousePlaces = (catalogue: Catalogue): Map<string, KeptPlace> => {
  const feeds = new Set(
    [...catalogue.all.keys()].flatMap((type) => [names.changesFeedOf(type), names.currentFeedOf(type)]),
  )
  const tables = [...relations.tablesOf(catalogue), ...relations.innerOf(catalogue)].filter((name) => !feeds.has(name))
  const known = new Map([
    ...[...catalogue.all.values()].flatMap(placesOfType),
    ...marts.map((mart): [string, KeptPlace] => [names.keptTableOf(mart.name), keptMart(mart)]),
    ...Object.entries(otherTables),
    ...marts.map((mart): [string, KeptPlace] => [names.sortedTableOf(mart.name), sortedPurchases(mart)]),
  ])
  return new Map(
    tables.map((name) => {
      const place = known.get(name)
      if (!place) throw new Error(`schemas/persons/places.ts does not say what weir.${name} keeps of persons`)
      return [name, place]
    }),
  )
}

const placesOfType = (type: RecordType): [string, KeptPlace][] => {
  const log = names.logTableOf(type.type)
  const current = names.currentTableOf(type.type)
  if (!isOfPersons(type))
    return [
      [log, nothing(`every version of ${type.type}`)],
      [current, nothing(`the newest version of ${type.type}`)],
    ]
  const place = { holds: aboutPersonsIn(type), form: formIn(type) }
  return [
    [
      log,
      {
        ...place,
        kept: hasVersions(type)
          ? 'the newest version for good; others too, or {HISTORY_DAYS days} after they were replaced'
          : 'for good',
        why: hasVersions(type) ? 'analysts see what was true at a moment' : 'analysts read it',
      },
    ],
    [current, { ...place, kept: 'for good, deleted records too', why: 'analysts see what is true now' }],
  ]
}

const otherTables: Readonly<Record<string, KeptPlace>> = {
  [names.rejectionsLog]: {
    holds: 'refused records as they were sent, up to 64 KiB of each',
    form: 'as sent',
    kept: '{REJECTION_RETENTION_DAYS days}',
    why: 'they can be found, mended and sent again',
  },
  [names.waitingLog]: {
    holds: 'the ids of records that wait or waited, and of customers that they wait for',
    form: 'pseudonym',
    kept: '{REJECTION_RETENTION_DAYS days} after the end of their time',
    why: 'analysts see what waits',
  },
  [names.ownMembersTable]: {
    holds: 'which customer was in which own segment, from when until when',
    form: 'personal',
    kept: 'for good',
    why: 'analysts see who came to a segment and who left it',
  },
  [names.ownSegmentsTable]: {
    holds: 'the conditions of own segments, in which somebody may have written an id',
    form: 'pseudonym',
    kept: 'for good',
    why: 'analysts see what a segment means',
  },
  [names.segmentSizesTable]: nothing('how many customers are in segments'),
  [names.shownTable]: nothing('which rows of marts are shown'),
  [names.maskSaltsTable]: nothing('secrets, with which ids become pseudonyms for masked analysts'),
  [names.changesTable]: nothing('when records were last written'),
}

/** The columns of a mart that name a person. */
const personsIn = (mart: Mart): string[] => [...personColumns.keys()].filter((name) => name in mart.columns)

const keptMart = (mart: Mart): KeptPlace => {
  const named = personsIn(mart)
  if (named.length === 0) return nothing(mart.about)
  return {
    holds: `of large organisations: ${mart.grain}, by ${listOf(named)}, with all that the mart says of them`,
    form: 'personal',
    kept: 'as long as the records that it is made from; rows that are no longer shown an hour longer',
    why: 'the mart is answered at once',
  }
}

const sortedPurchases = (mart: Mart): KeptPlace => ({
  holds: `of large organisations: transactions, by ${listOf(purchaseColumns.filter((name) => personColumns.has(name)))}`,
  form: 'pseudonym',
  kept: 'as long as the transactions',
  why: `${mart.name} is made anew from what has changed`,
})

const isOfPersons = (type: RecordType): boolean => personFieldsOf(type).length > 0
const formIn = (type: RecordType): 'personal' | 'pseudonym' =>
  personalFieldsOf(type).length > 0 ? 'personal' : 'pseudonym'

/** Who it is, and what else is said of them: with a record that names a person, all of its fields are about that person. */
const aboutPersonsIn = (type: RecordType): string => {
  const personal = personalFieldsOf(type)
  const masked = new Set(maskedFieldsOf(type))
  const others = Object.keys(columnsOf(type)).filter((name) => !masked.has(name))
  return [
    listOf(personFieldsOf(type).map(({ field }) => field)),
    ...(personal.length > 0 ? [`and of this person ${listOf(personal)}`] : []),
    `beside ${others.length} fields that are about the person only together with these`,
  ].join(' ')
}

const listOf = (fields: readonly string[]): string => {
  const quoted = fields.map((name) => `\`${name}\``)
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)}`
}
