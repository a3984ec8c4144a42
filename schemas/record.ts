import { boolean, type Field, impersonal, instant, like, optional, type Values } from './field.js'

/** One record type, declared once, as data. Everything else about it is derived from this. */
export type RecordType = {
  /** The path segment, and the stem of every topic, table and subject. */
  type: string
  /** The field that identifies a record. */
  id: string
  about: string
  /** How many records one request may carry. */
  limit: number
  /** The setting of the edge that raises the limit, and how far at the most. */
  raisedBy?: { setting: string; to: number }
  /** Set where accepted records are a stream for themselves: its topic, how many times wider it is, how long it is kept. */
  stream?: { topic: string; timesWider: number; keptDays: number }
  /** How many there are in sample data: `each` for every record of that type; by itself, one for each record that it refers to. */
  sampled?: { of?: string; each: number }
  /** What the uploader gives. */
  fields: Readonly<Record<string, Field>>
  /** What the service adds before it stores a record. */
  assigned: Readonly<Record<string, Field>>
}

type Declaration = Omit<RecordType, 'limit' | 'assigned'> & Partial<Pick<RecordType, 'limit' | 'assigned'>>

export const record = (declared: Declaration): RecordType => {
  const type = { limit: 5000, assigned: {}, ...declared }
  if (!columnsOf(type)[type.id]) throw new Error(`${type.type}: its id ${type.id} is not one of its fields`)
  const unsaid = unsaidOf(type)
  if (unsaid.length > 0)
    throw new Error(
      `${type.type} names persons, so each of its fields says what it is: naming(), personal() or impersonal(); missing at ${unsaid.join(', ')}`,
    )
  return type
}

/** The fields that do not say what they have to do with a person, in a type that names persons. There is no default: it would be forgotten. */
const unsaidOf = (type: RecordType): string[] => {
  const fields = Object.entries(columnsOf(type))
  const namesPersons = fields.some(([, { ofPerson }]) => typeof ofPerson === 'object')
  return namesPersons ? fields.flatMap(([name, { ofPerson }]) => (ofPerson ? [] : [name])) : []
}

/** The last three fields of every uploaded record. */
export const lifecycle = {
  created: impersonal(optional(like({ lastDays: 700 }, instant('when the record was created at its source')))),
  updated: impersonal(optional(instant('when the record was last changed at its source'))),
  is_deleted: impersonal(
    optional(boolean('marks the record as deleted: it leaves the views, and still satisfies references')),
  ),
}

export const columnsOf = (type: Pick<RecordType, 'assigned' | 'fields'>): Readonly<Record<string, Field>> => ({
  ...type.assigned,
  ...type.fields,
})

/** Whether a record can come again with the same id, and replace the one before. It cannot where the service gives the id. */
export const hasVersions = (type: Pick<RecordType, 'id' | 'assigned'>): boolean => !(type.id in type.assigned)

export type Reference = { field: string; type: string; id: string }

/** The records that this one says must already exist. */
export const createReferencesOf = (type: RecordType): ((values: Values) => Reference[]) => {
  const fields = Object.entries(type.fields).filter(([, field]) => field.kind === 'reference' || field.kind === 'item')
  return (values) => {
    const references: Reference[] = []
    for (const [name, field] of fields) {
      const id = values[name]
      if (typeof id !== 'string') continue
      const to =
        field.kind === 'reference'
          ? field.to
          : field.kind === 'item'
            ? field.kinds[String(values[field.by])]
            : undefined
      if (to !== undefined) references.push({ field: name, type: to, id })
    }
    return references
  }
}
