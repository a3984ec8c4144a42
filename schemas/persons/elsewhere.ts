import type { Catalogue } from '../catalogue.js'
import { typesOfPersons } from './about-persons.js'
import { outsidePlaces } from './outside-places.js'
import { topicPlaces } from './places.js'
import { postgresPlaces } from './postgres-places.js'

/** Where more about a person may be than an export can read. */
export type Elsewhere = { where: string; what: string; kept: string }

/** What an export of a person does read; everything else of the inventory is elsewhere. */
const readByExport = ['integrity.waiting']

/** Sentences from the inventory: what is only a copy, or cannot be looked through by person. */
export const elsewhereOf = (catalogue: Catalogue): Elsewhere[] => {
  const topics = [...topicPlaces(catalogue)].filter(
    ([name, { form }]) => form !== 'nothing' && isOfPersons(catalogue, name),
  )
  const byKept = new Map<string, string[]>()
  for (const [name, { kept }] of topics) byKept.set(kept, [...(byKept.get(kept) ?? []), name])
  const tables = Object.entries(postgresPlaces).filter(
    ([name, { form }]) => form !== 'nothing' && !readByExport.includes(name),
  )
  return [
    ...[...byKept].map(([kept, names]) => ({
      where: `Kafka: ${names.join(', ')}`,
      what: 'what this export shows as accepted, refused or waiting, as it came in or was published',
      kept,
    })),
    {
      where: `Postgres: ${tables.map(([name]) => name).join(', ')}`,
      what: 'ids, in what the services note for their own work; docs/data-inventory.md has each table',
      kept: 'as the settings of the operator say',
    },
    ...Object.entries(outsidePlaces)
      .filter(([, { form }]) => form !== 'nothing')
      .map(([where, { holds, kept }]) => ({ where, what: holds, kept })),
  ]
}

/** A topic of a type that names nobody may hold a refused record that names somebody; that one is among the refused ones. */
const isOfPersons = (catalogue: Catalogue, topic: string): boolean =>
  typesOfPersons(catalogue).some(({ type }) => topic.endsWith(`.${type}`)) || !topic.startsWith('weir.submitted.')
