import { nearest } from '../../../schemas/derive/nearest-name.js'
import type { Field } from '../../../schemas/field.js'
import type { RecordType } from '../../../schemas/record.js'
import { type Dialect, notPlain, plainDialect } from '../../typescript/src/files/dialect.js'
import { isRemark } from '../../typescript/src/files/refused-csv.js'
import { placeOf, quoted, type Row, UsageError } from '../read/row.js'
import { createReadCell } from './cells.js'
import { createWithUuids } from './uuid-from.js'
import { createInZone } from './zone.js'

/** How names in a file become fields of a record. */
export type Mapping = {
  /** The name in the file, or the path within a JSON record (address.country) → the field; '' where it is left out. */
  map: ReadonlyMap<string, string>
  /** The field → the value that every record gets. */
  constants: ReadonlyMap<string, string>
  /** Names that are no field are left out instead of refused. */
  skipUnknown: boolean
  /** Ids and references that are no UUIDs become such, within this namespace. */
  uuidFrom?: string
  /** Times without a zone are those of this one. */
  zone?: string
}

export type ToRecord = (row: Row) => Record<string, unknown>

/** What is made of a file by these: an upload that goes on has to make the same. Plain files are written as they always were. */
export const identityOf = ({ map, constants, skipUnknown, uuidFrom, zone }: Mapping, dialect: Dialect): string => {
  const more = {
    ...notPlain(dialect),
    ...(uuidFrom !== undefined && { uuidFrom }),
    ...(zone !== undefined && { zone }),
  }
  const parts = [[...map].sort(), [...constants].sort(), skipUnknown]
  return JSON.stringify(Object.keys(more).length === 0 ? parts : [...parts, more])
}

/** What stands in a command is written plainly, whatever the file is like. */
const readConstant = createReadCell(plainDialect)

/** Refuses columns that cannot fit before a million records are refused for them; without `columns` each record has names. */
export const createToRecord = (
  type: RecordType,
  columns: string[] | undefined,
  mapping: Mapping,
  dialect: Dialect = plainDialect,
  onTakenForUtc: () => void = () => {},
): ToRecord => {
  const readCell = createReadCell(dialect)
  const withUuids = mapping.uuidFrom === undefined ? undefined : createWithUuids(type, mapping.uuidFrom)
  const inZone = createInZone(type, mapping.zone, onTakenForUtc)
  refuseUnknownNames(type, mapping)
  if (columns) refuseColumns(type, columns, mapping)
  const constants = [...mapping.constants].map(
    ([name, text]) => [name, readConstant(type.fields[name] as Field, text)] as const,
  )
  const fieldOf = (name: string): string | undefined => {
    if (isRemark(name)) return undefined
    const field = fieldFor(name, mapping)
    return field !== undefined && mapping.skipUnknown && !type.fields[field] ? undefined : field
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
  const roots = new Set([...mapping.map.keys()].filter((name) => name.includes('.')).map((name) => name.split('.')[0]))
  const ofNames = (given: object, row: Row): Record<string, unknown> => {
    const record: Record<string, unknown> = {}
    for (const [name, value] of roots.size === 0 ? Object.entries(given) : pathsIn(given, roots, mapping.map)) {
      const field = fieldOf(name)
      if (field === undefined) continue
      if (mapping.constants.has(field) && value !== null)
        throw new UsageError(`${placeOf(row)} has ${name} itself: ${beaten(name, field, mapping)}`)
      record[field] = asField(type.fields[field], value)
    }
    return record
  }

  return (row) => {
    const { given } = row
    // What is no object is sent as it is, so that the service says what it thinks of it.
    if (typeof given !== 'object' || given === null) return given as Record<string, unknown>
    const record = Array.isArray(given) && byCell ? ofCells(given) : Array.isArray(given) ? given : ofNames(given, row)
    for (const [name, value] of constants) (record as Record<string, unknown>)[name] = value
    withUuids?.(record as Record<string, unknown>)
    inZone(record as Record<string, unknown>)
    return record as Record<string, unknown>
  }
}

/** The field that a name in the file stands for; undefined where `--map 'name='` leaves it out. */
const fieldFor = (name: string, { map }: Mapping): string | undefined => {
  const mapped = map.get(name.trim())
  return mapped === undefined ? name : mapped || undefined
}

/** The values in a record by their paths, such as address.country, below the names with which a mapped path begins. */
function* pathsIn(
  given: object,
  roots: ReadonlySet<string | undefined>,
  map: Mapping['map'],
  above = '',
): Generator<[string, unknown]> {
  for (const [name, value] of Object.entries(given)) {
    const path = above + name
    const isInner = (above !== '' || roots.has(name)) && !map.has(path)
    if (isInner && typeof value === 'object' && value !== null && !Array.isArray(value))
      yield* pathsIn(value, roots, map, `${path}.`)
    else yield [path, value]
  }
}

/** Parquet has a time of midnight where a field wants a day. */
const asField = (field: Field | undefined, value: unknown): unknown =>
  field?.kind === 'date' && typeof value === 'string' ? value.replace(/T00:00:00\.000Z$/, '') : value

const refuseUnknownNames = (type: RecordType, { map, constants }: Mapping): void => {
  const names = Object.keys(type.fields)
  for (const name of [...map.values(), ...constants.keys()]) {
    if (name === '' || type.fields[name]) continue
    throw new UsageError(`${type.type} have no field ${name}${hint(name, names)}; they have ${names.join(', ')}`)
  }
}

/** All that is wrong with the columns is said at once, so that one more try is enough. */
const refuseColumns = (type: RecordType, columns: string[], mapping: Mapping): void => {
  const { map, constants, skipUnknown } = mapping
  const names = Object.keys(type.fields)
  const own = columns.flatMap((column) => {
    const field = isRemark(column) ? undefined : fieldFor(column, mapping)
    return field === undefined ? [] : { column, field }
  })
  const fields = own.map(({ field }) => field)
  const wrong: string[] = []
  for (const name of new Set(fields.filter((name, i) => fields.indexOf(name) !== i && type.fields[name])))
    wrong.push(`two columns would be ${name}: rename one of them in the file, or leave it out: ${leftOut(name)}`)
  const absent = [...map.keys()].filter((name) => !columns.some((column) => column.trim() === name))
  if (absent.length > 0)
    wrong.push(`--map names the column ${absent.join(' and ')}, which is not there; there are ${columns.join(', ')}`)
  for (const { column, field } of own)
    if (constants.has(field))
      wrong.push(`${JSON.stringify(column)} is a column of the file: ${beaten(column, field, mapping)}`)

  const unknown = skipUnknown ? [] : own.flatMap(({ column, field }) => (type.fields[field] ? [] : column))
  if (unknown.length > 0) {
    const maps = unknown.map((name) => `--map ${quoted(`${name}=${nearest(name, names) ?? 'FIELD'}`)}`)
    const list = unknown.map((name) => JSON.stringify(name))
    wrong.push(
      `${list.join(', ')} ${unknown.length === 1 ? 'is no field' : 'are no fields'} of ${type.type}: ` +
        `say which they are (${maps.join(' ')}), or leave them out: --skip-unknown; fields are ${names.join(', ')}`,
    )
  }
  const missing = names.filter((name) => type.fields[name]?.required && !fields.includes(name) && !constants.has(name))
  if (missing.length > 0)
    wrong.push(
      `no column is ${missing.join(' or ')}, which ${type.type} need: ` +
        `say which column it is (--map 'COLUMN=${missing[0]}') or one value for all (--const ${missing[0]}=VALUE)`,
    )
  if (wrong.length > 0) throw new UsageError(wrong.join('; '))
}

const leftOut = (name: string): string => `--map ${quoted(`${name}=`)}`

const beaten = (name: string, field: string, { constants }: Mapping): string =>
  `leave --const ${quoted(`${field}=${constants.get(field)}`)} away, or leave out what the file has: ${leftOut(name)}`

const hint = (name: string, names: string[]): string => {
  const meant = nearest(name, names)
  return meant === undefined ? '' : ` (did you mean ${meant}?)`
}
