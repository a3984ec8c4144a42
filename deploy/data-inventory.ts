// docs/data-inventory.md: what is kept of persons, where, how long and why. Topics, tables in ClickHouse and fields follow from the catalogue,
// numbers of days from the settings; the sentences about all other places are in schemas/persons.
import { catalogue } from '#schemas/catalogue.js'
import { personalFieldsOf, personFieldsOf, staysWithoutPerson, typesOfPersons } from '#schemas/persons/about-persons.js'
import { outsidePlaces } from '#schemas/persons/outside-places.js'
import type { KeptPlace } from '#schemas/persons/place.js'
import { clickhousePlaces, topicPlaces } from '#schemas/persons/places.js'
import { postgresPlaces } from '#schemas/persons/postgres-places.js'
import type { RecordType } from '#schemas/record.js'
import { configSchema as delivery } from '../services/delivery/config.js'
import { configSchema as edge } from '../services/edge/config.js'
import { configSchema as integrity } from '../services/integrity/config.js'
import { configSchema as sink } from '../services/sink/config.js'

const settings = { ...edge.properties, ...integrity.properties, ...sink.properties, ...delivery.properties }

export const dataInventoryPage = (): string =>
  `${[
    introduction,
    fields,
    '## Topics (Kafka)',
    'Kafka deletes whole segments, which are a week old at the most: so much longer may something stay where little comes. The submitted topics of before `weir lanes change` (or those after it, which end in `.g1`, `.g2`) hold the same.',
    tableOf(topicPlaces(catalogue)),
    '## Tables of analysts (ClickHouse)',
    'In the database `weir`. On a cluster each server has its part of a table, in one of the same name with `_local` behind it. Views (`weir.customers`, the marts) keep nothing of their own: they show what is in these tables. A row that is deleted is not read any more at once, and leaves the disk when ClickHouse next merges its part.',
    tableOf(clickhousePlaces(catalogue)),
    '## Tables of the services (Postgres)',
    tableOf(new Map(Object.entries(postgresPlaces))),
    '## Elsewhere',
    tableOf(new Map(Object.entries(outsidePlaces)), (name) => name),
  ].join('\n\n')}\n`

const introduction = `# What is kept of persons

<!-- Made by npm run publish-schemas from schemas/records, schemas/persons and the settings: change the descriptions there. -->

For whoever keeps the record of processing activities (Art. 30 GDPR), and whoever has to know where a person's data is. What is kept about one
person is answered by an [export](persons.md). A **person** is a customer (a student is one), by \`customer_id\` or \`student_id\`, or a user, by \`user_id\`. Both ids are
pseudonyms: with the organisation's own lists they lead to somebody. A record that names a person is about that person with all of its fields.

In the column *form*, **personal** means that something is said of the persons themselves; **pseudonym** an id, and maybe what was done under it; **as sent** what
an organisation sent, whatever stands in it. Where a setting is named, the number before it is its default ([settings](settings.md#retention)).`

const fieldRow = (type: RecordType): string => {
  const named = personFieldsOf(type).map(({ field, names }) => `\`${field}\` (${names})`)
  const personal = personalFieldsOf(type).map((field) => `\`${field}\``)
  const without = staysWithoutPerson(type) ? 'can stay without the person' : 'is nothing without the person'
  return `| ${type.type} | ${named.join(', ')} | ${personal.join(', ') || '–'} | ${without} |`
}

const fields = [
  '## Which records are about persons',
  '',
  '| type | names the person by | personal beside it | a record |',
  '| --- | --- | --- | --- |',
  ...typesOfPersons(catalogue).map(fieldRow),
  '',
  `All other types (${[...catalogue.all.values()]
    .filter((type) => personFieldsOf(type).length === 0)
    .map(({ type }) => type)
    .join(
      ', ',
    )}) name nobody. What somebody writes into a free text of theirs, such as the name of a shop, no declaration can know.`,
].join('\n')

const tableOf = (places: ReadonlyMap<string, KeptPlace>, nameOf = (name: string) => `\`${name}\``): string => {
  const [about, others] = [[...places].filter(isAboutPersons), [...places].filter((each) => !isAboutPersons(each))]
  const rows = new Map<string, string[]>()
  for (const [name, { holds, form, kept, why }] of about) {
    const row = [holds, form, withSettings(kept), why].join(' | ')
    rows.set(row, [...(rows.get(row) ?? []), nameOf(name)])
  }
  return [
    '| where | what | form | how long | why |',
    '| --- | --- | --- | --- | --- |',
    ...[...rows].map(([row, names]) => `| ${names.join(', ')} | ${row} |`),
    '',
    'Nothing about persons is in:',
    '',
    ...others.map(([name, { holds }]) => `- ${nameOf(name)}: ${lowerFirst(holds)}`),
  ].join('\n')
}

const isAboutPersons = ([, { form }]: readonly [string, KeptPlace]): boolean => form !== 'nothing'

const lowerFirst = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1).replace(/\.$/, '')}`

/** {NAME days} becomes the default of that setting, with its name. */
const withSettings = (text: string): string =>
  text.replaceAll(/\{([A-Z_]+) (\w+)\}/g, (_, name: string, unit: string) => {
    const setting = (settings as Record<string, { default?: unknown } | undefined>)[name]
    if (!setting) throw new Error(`an entry of the inventory names ${name}, and no service has such a setting`)
    return setting.default === undefined ? `\`${name}\`` : `${setting.default} ${unit} (\`${name}\`)`
  })
