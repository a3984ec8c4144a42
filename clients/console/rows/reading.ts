import type { FieldReference, TypeReference } from '../../typescript/src/endpoints.js'
import { createToPlain, type Dialect, isTime, plainDialect } from '../../typescript/src/files/dialect.js'
import {
  type Recognised,
  recogniseDates,
  recogniseDecimal,
  recogniseDelimiter,
} from '../../typescript/src/files/recognise.js'
import { fieldColumns, isOfRefused, isRemark, restored } from '../../typescript/src/files/refused-csv.js'
import { createToZone } from '../../typescript/src/files/zone.js'
import { readCell } from './cells.js'
import { createCsvReader } from './csv.js'

/** How a file is read: an upload that goes on has to read it the same way. */
export type FileReading = {
  dialect: Dialect
  /** Of CSV: the field that each column becomes, '' where it is left out. */
  fields?: string[] | undefined
  /** The field → the value that every record gets. */
  constants: Record<string, string>
  /** Times without a zone are those of this one; where none is said, of UTC. */
  zone?: string | undefined
}

/** What the first rows of a file show. */
export type FileLook = {
  columns: string[] | undefined
  /** The first cell of each column that has something in it. */
  samples: string[]
  fields: string[]
  found: { [Name in keyof Dialect]: Recognised<Dialect[Name]> }
  /** A time in it that names no zone. */
  withoutZone: string | undefined
}

const plainlyFound: FileLook['found'] = {
  encoding: { is: plainDialect.encoding },
  delimiter: { is: plainDialect.delimiter },
  decimal: { is: plainDialect.decimal },
  dates: { is: plainDialect.dates },
}

/** What a file that is not CSV shows: its encoding alone. */
export const lookOf = (encoding: Recognised<string>): FileLook => ({
  columns: undefined,
  samples: [],
  fields: [],
  found: { ...plainlyFound, encoding },
  withoutZone: undefined,
})

/** What the beginning of a CSV file shows; `isWhole` where that is all of it. What people said goes before what is recognised. */
export const lookAtCsv = (
  start: { text: string; isWhole: boolean; encoding: Recognised<string> },
  type: TypeReference,
  said: { dialect: Partial<Dialect>; fields?: readonly string[] | undefined },
): FileLook => {
  const { text, isWhole, encoding } = start
  const isKnown = (name: string) => isRemark(name) || matchFields([name], type)[0] !== ''
  const delimiter = said.dialect.delimiter ?? recogniseDelimiter(text, isKnown)
  const sign = typeof delimiter === 'string' ? delimiter : 'is' in delimiter ? delimiter.is : undefined
  const found = { ...plainlyFound, encoding, delimiter: typeof delimiter === 'string' ? { is: delimiter } : delimiter }
  // Without knowing what separates them there are no columns yet.
  if (sign === undefined) return { ...lookOf(encoding), found }
  const reader = createCsvReader(sign)
  const [header, ...rows] = [...reader.take(text), ...(isWhole ? reader.end() : [])]
  const columns = header && !header.fault ? fieldColumns(header.cells) : undefined
  if (!header || !columns) return { ...lookOf(encoding), found }
  const places = header.cells.flatMap((name, at) => (isRemark(name) ? [] : at))
  const fields = said.fields?.length === columns.length ? [...said.fields] : matchFields(columns, type)
  const cellsOf = (at: number) => rows.map(({ cells }) => cells[places[at] ?? -1] ?? '').filter(Boolean)
  const cellsIn = (isOfKind: (kind: string) => boolean) =>
    fields.flatMap((name, at) => (isOfKind(kindOf(type, name)) ? cellsOf(at) : []))
  return {
    columns,
    samples: columns.map((_, at) => cellsOf(at)[0] ?? ''),
    fields,
    found: {
      ...found,
      decimal: recogniseDecimal(
        cellsIn((kind) => kind === 'number'),
        sign,
      ),
      dates: recogniseDates(cellsIn(isTime)),
    },
    withoutZone: cellsIn((kind) => isTime(kind) && kind !== 'date').find(isWithoutZone),
  }
}

const isWithoutZone = (cell: string): boolean => /\d[ T]\d{1,2}:\d{2}(:\d{2})?(\.\d+)?$/.test(cell)

/** The field that each column obviously is: of the same name, whatever its case, blanks and underscores; '' where it is none. */
export const matchFields = (columns: readonly string[], { fields }: Pick<TypeReference, 'fields'>): string[] => {
  const taken = new Set<string>()
  const take = (name: string | undefined): string => {
    if (name === undefined || taken.has(name)) return ''
    taken.add(name)
    return name
  }
  const exact = columns.map((column) => take(fields.find(({ name }) => name === column)?.name))
  return exact.map(
    (found, at) => found || take(fields.find(({ name }) => plainName(name) === plainName(columns[at] ?? ''))?.name),
  )
}

const plainName = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '')

const kindOf = (type: TypeReference, name: string): string => fieldNamed(type, name)?.kind ?? ''

const fieldNamed = ({ fields }: TypeReference, name: string): FieldReference | undefined =>
  fields.find((field) => field.name === name)

/** What would be wrong with every record that is read so; undefined where nothing is. */
export const problemOf = (type: TypeReference, { fields = [], constants }: FileReading): string | undefined => {
  const doubled = fields.find((name, at) => name !== '' && fields.indexOf(name) !== at)
  if (doubled) return `Two columns would be ${doubled}: leave one of them out.`
  const beaten = fields.find((name) => name !== '' && constants[name])
  if (beaten) return `A column is ${beaten}, and so is one value for all: leave one of them out.`
  const unknown = Object.keys(constants).find((name) => !fieldNamed(type, name))
  return unknown && `${type.type} has no field ${unknown}.`
}

/**
 * Makes records of a file's cells. An empty cell is an absent field. A cell that does not fit stays text, so that the service refuses
 * it and says why. Of a file of refused records, the columns that say why are left out, and cells are as they were before they were
 * made harmless for Excel.
 */
export const createToRecord = (type: TypeReference, columns: readonly string[], reading?: FileReading) => {
  const asMeant = isOfRefused(columns) ? restored : (cell: string) => cell
  const toPlain = createToPlain(reading?.dialect ?? plainDialect)
  const own = columns.flatMap((name, at) => (isRemark(name) ? [] : { at, name: asMeant(name) }))
  const targets = own.flatMap(({ at, name }, place) => {
    const field = reading?.fields ? (reading.fields[place] ?? '') : name
    return field === '' ? [] : { at, name: field, field: fieldNamed(type, field) }
  })
  const constants = Object.entries(reading?.constants ?? {}).filter(([, value]) => value !== '')
  const moments = type.fields.filter(({ kind }) => kind === 'instant' || kind === 'moment')
  const inZone = createToZone(
    moments.map(({ name }) => name),
    reading?.zone,
    () => {},
  )
  return (cells: readonly string[]): Record<string, unknown> => {
    const record: Record<string, unknown> = {}
    for (const { at, name, field } of targets) {
      const cell = asMeant(cells[at] ?? '')
      if (cell !== '') define(record, name, readCell(field, toPlain(field?.kind ?? '', cell), cell))
    }
    for (const [name, value] of constants) define(record, name, readCell(fieldNamed(type, name), value))
    inZone(record)
    return record
  }
}

/** Also for a column that is called __proto__. */
const define = (record: Record<string, unknown>, name: string, value: unknown) =>
  Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true })
