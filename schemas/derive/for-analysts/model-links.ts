import type { Catalogue } from '../../catalogue.js'
import type { Field } from '../../field.js'
import type { RecordType } from '../../record.js'

/** A column of one type that holds the id of a record of another. */
export type ModelLink = {
  field: string
  /** The type that it leads to. */
  to: string
  /** Whether a record is accepted only where the other one exists. Otherwise the id may name nothing. */
  isChecked: boolean
  /** Set where the column leads to this type only while another column has a certain value. */
  when?: { field: string; is: string }
}

/** Where the columns of a type lead: its declared references, and the ids that are known by their name or their likeness. */
export const linksOf = (type: RecordType, { all }: Catalogue): ModelLink[] =>
  Object.entries(type.fields)
    .filter(([field]) => field !== type.id)
    .flatMap(([field, declared]) => targetsOf(field, declared, all).map((target) => ({ field, ...target })))

const targetsOf = (name: string, field: Field, all: Catalogue['all']): Omit<ModelLink, 'field'>[] => {
  if (field.kind === 'reference') return [{ to: field.to, isChecked: true }]
  if (field.kind === 'item')
    return Object.entries(field.kinds).map(([is, to]) => ({ to, isChecked: true, when: { field: field.by, is } }))
  if (field.kind !== 'uuid') return []
  const likened = field.likeness && 'idOf' in field.likeness ? field.likeness.idOf : undefined
  const to = likened ?? [...all.values()].find(({ id }) => id === name)?.type
  return to === undefined ? [] : [{ to, isChecked: false }]
}
