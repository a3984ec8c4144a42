import { nearest } from '../../../schemas/derive/nearest-name.js'
import type { Field } from '../../../schemas/field.js'
import type { RecordType } from '../../../schemas/record.js'
import { isRemark } from '../../typescript/src/files/refused-csv.js'
import { type Row, UsageError } from '../read/row.js'
import { readCell } from './cells.js'

/** How names in a file become fields of a record. */
export type Mapping = {
  /** The name in the file → the field. */
  map: ReadonlyMap<string, string>
  /** The field → the value that every record gets. */
  constants: ReadonlyMap<string, string>
  /** Names that are no field are left out instead of refused. */
  skipUnknown: boolean
}

export type ToRecord = (row: Row) => Record<string, unknown>

/** Refuses columns that cannot fit before a million records are refused for them; without `columns` each record has names. */
export const createToRecord = (type: RecordType, columns: string[] | undefined, mapping: Mapping): ToRecord => {
  refuseUnknownNames(type, mapping)
  if (columns) refuseColumns(type, columns, mapping)
  const constants = [...mapping.constants].map(
    ([name, text]) => [name, readCell(type.fields[name] as Field, text)] as const,
  )
  const fieldOf = (name: string): string | undefined => {
    const field = mapping.map.get(name) ?? name
    if (isRemark(name) || mapping.constants.has(field)) return undefined
    return mapping.skipUnknown && !type.fields[field] ? undefined : field
  }

  const byCell = columns?.map((name) => {
    const field = fieldOf(name)
    return field === undefined ? undefined : { name: field, kind: type.fields[field] as Field }
  })
  const ofCells = (cells: string[]): Record<string, unknown> => {
    const record: Record<string, unknown> = {}
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i]
      const column = byCell?.[i]
      if (column && cell) record[column.name] = readCell(column.kind, cell)
    }
    return record
  }
  const ofNames = (given: object): Record<string, unknown> => {
    const record: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(given)) {
      const field = fieldOf(name)
      if (field !== undefined) record[field] = asField(type.fields[field], value)
    }
    return record
  }

  return ({ given }) => {
    // What is no object is sent as it is, so that the service says what it thinks of it.
    if (typeof given !== 'object' || given === null) return given as Record<string, unknown>
    const record = Array.isArray(given) && byCell ? ofCells(given) : Array.isArray(given) ? given : ofNames(given)
    for (const [name, value] of constants) (record as Record<string, unknown>)[name] = value
    return record as Record<string, unknown>
  }
}

/** Parquet has a time of midnight where a field wants a day. */
const asField = (field: Field | undefined, value: unknown): unknown =>
  field?.kind === 'date' && typeof value === 'string' ? value.replace(/T00:00:00\.000Z$/, '') : value

const refuseUnknownNames = (type: RecordType, { map, constants }: Mapping): void => {
  const names = Object.keys(type.fields)
  for (const name of [...map.values(), ...constants.keys()]) {
    if (type.fields[name]) continue
    throw new UsageError(`${type.type} have no field ${name}${hint(name, names)}; they have ${names.join(', ')}`)
  }
}

const refuseColumns = (type: RecordType, columns: string[], { map, constants, skipUnknown }: Mapping): void => {
  const names = Object.keys(type.fields)
  const fields = columns.filter((name) => !isRemark(name)).map((name) => map.get(name) ?? name)
  const [only = ''] = columns
  if (columns.length === 1 && /[;\t|]/.test(only))
    throw new UsageError(
      `the cells are not separated by commas: ${JSON.stringify(only)}; save the file as CSV with commas`,
    )
  const twice = fields.find((name, i) => fields.indexOf(name) !== i && type.fields[name])
  if (twice) throw new UsageError(`two columns would be ${twice}: rename one of them in the file, or map it elsewhere`)
  const absent = [...map.keys()].find((name) => !columns.includes(name))
  if (absent !== undefined)
    throw new UsageError(`--map names the column ${absent}, which is not there; there are ${columns.join(', ')}`)

  const unknown = columns.filter((name) => !isRemark(name) && !type.fields[map.get(name) ?? name])
  if (unknown.length > 0 && !skipUnknown) {
    const maps = unknown.slice(0, 5).map((name) => `--map '${name}=${nearest(name, names) ?? 'FIELD'}'`)
    const list = unknown.slice(0, 5).map((name) => JSON.stringify(name))
    throw new UsageError(
      `${list.join(', ')} ${unknown.length === 1 ? 'is no field' : 'are no fields'} of ${type.type}: ` +
        `say which they are (${maps.join(' ')}), or leave them out: --skip-unknown; fields are ${names.join(', ')}`,
    )
  }
  const missing = names.filter((name) => type.fields[name]?.required && !fields.includes(name) && !constants.has(name))
  if (missing.length > 0)
    throw new UsageError(
      `no column is ${missing.join(' or ')}, which ${type.type} need: ` +
        `say which column it is (--map 'COLUMN=${missing[0]}') or one value for all (--const ${missing[0]}=VALUE)`,
    )
}

const hint = (name: string, names: string[]): string => {
  const meant = nearest(name, names)
  return meant === undefined ? '' : ` (did you mean ${meant}?)`
}
