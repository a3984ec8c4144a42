import { catalogue } from '../catalogue.js'
import type { Person } from '../field.js'
import type { Mart } from '../marts/mart.js'
import { columnsOf, type RecordType } from '../record.js'
import { personFieldsOf } from './about-persons.js'

// What analysts see who have no right to see personal fields: of each column its values, a pseudonym of the person in it, or nothing.

/** Whose id is shown as a pseudonym; `shown` as it is, `hidden` as the type's empty value. */
export type Mask = 'shown' | 'hidden' | Person

/** By its name, each column that has the id of a person, and whether that is a customer's or a user's; the same in every view. */
export const personColumns: ReadonlyMap<string, Person> = new Map(
  [...catalogue.all.values()].flatMap((type) =>
    personFieldsOf(type).map(({ field, names }): [string, Person] => [field, names]),
  ),
)

/** The fields that name no person. */
const things = new Set(
  [...catalogue.all.values()].flatMap((type) =>
    Object.keys(columnsOf(type)).filter((name) => !personColumns.has(name)),
  ),
)

/** A column of a type's views. The exact number beside a field says what the field says. */
export const maskOfColumn = (type: RecordType, name: string): Mask => {
  const fields = columnsOf(type)
  const { ofPerson } = fields[name] ?? fields[name.replace(/_exact$/, '')] ?? {}
  if (typeof ofPerson === 'object') return ofPerson.names
  return ofPerson === 'personal' ? 'hidden' : 'shown'
}

/** The masks of a mart's columns. Where a row is about one person, only what is declared as impersonal is shown of it. */
export const masksOfMart = (mart: Pick<Mart, 'columns' | 'impersonal' | 'written'>): Record<string, Mask> => {
  const { columns, impersonal = [], written = [] } = mart
  const isAboutOne = Object.entries(columns).some(([name, { type }]) => personIn(name, type))
  const maskOf = (name: string, type: string): Mask => {
    if (name === 'org_id' || impersonal.includes(name)) return 'shown'
    if (written.includes(name)) return 'hidden'
    // Whose ids are in a list, no declaration says.
    return personIn(name, type) ?? (isAboutOne || type === 'Array(UUID)' ? 'hidden' : 'shown')
  }
  return Object.fromEntries(Object.entries(columns).map(([name, { type }]) => [name, maskOf(name, type)]))
}

/** An id that no type declares as something else may be a person's. */
const personIn = (name: string, type: string): Person | undefined =>
  personColumns.get(name) ?? (/^(?:Nullable\()?UUID/.test(type) && !things.has(name) ? 'customer' : undefined)
