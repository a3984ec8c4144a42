import { type CsvRow, cellAt, plainNumber } from '../csv-rows.js'
import type { Field } from '../field.js'
import type { RecordType } from '../record.js'
import type { AvroBytes } from './avro-bytes.js'
import { type OutgoingRecord, recordIn } from './batch-bytes.js'
import { type JsonToken, readToken } from './json-bytes.js'
import { createFieldWriter, type FieldWriter, writeRecord } from './value-writers.js'

/** A reader for rows of one type under a header; a row has as many cells as the header. */
export const createCsvReader = (type: RecordType, header: readonly string[]) => {
  const writers = Object.values(type.fields).map(createFieldWriter)
  const fields = Object.entries(type.fields).map(([name, field], place) => ({
    name,
    readCell: createCellReader(field),
    token: (writers[place] as FieldWriter).token,
  }))
  const columns = header.map((name) => ({
    name,
    kind: Object.hasOwn(type.fields, name) ? type.fields[name]?.kind : undefined,
    field: fields.find((field) => field.name === name),
  }))

  const find = (csv: Buffer, row: CsvRow): boolean => {
    for (const { token } of fields) token.kind = 'absent'
    for (let n = 0; n < columns.length; n++) {
      const from = row.from[n] as number
      const to = row.to[n] as number
      if (from === to) continue
      const field = columns[n]?.field
      if (!field || row.isEscaped[n] || !field.readCell(csv, from, to, field.token)) return false
    }
    return true
  }

  /** The cells that are not empty: an empty one is an absent field. */
  const filledIn = (csv: Buffer, row: CsvRow) =>
    columns.flatMap(({ name, kind }, n) => {
      const text = cellAt(csv, row, n)
      return text === '' ? [] : { name, text, value: typed(kind, text) }
    })

  return {
    /** A row as Avro; undefined where it is wrong or unusual. */
    readStraight: (csv: Buffer, row: CsvRow, out: AvroBytes): OutgoingRecord | undefined => {
      const length = (row.to[row.count - 1] as number) - (row.from[0] as number)
      return find(csv, row) && writeRecord(out, csv, length, writers) ? recordIn(out) : undefined
    },
    /** The row as the same record would come out of JSON. */
    toRecord: (csv: Buffer, row: CsvRow): Record<string, unknown> =>
      // Also a column called __proto__ becomes a field like any other.
      Object.fromEntries(filledIn(csv, row).map(({ name, value }) => [name, value])),
    /** The same record as JSON, with its numbers as they stand in their cells. */
    toJson: (csv: Buffer, row: CsvRow): string => {
      const written = filledIn(csv, row).map(({ name, text, value }): [string, string] => [
        name,
        typeof value === 'number' ? text : JSON.stringify(value),
      ])
      return `{${Array.from(new Map(written), ([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
    },
  }
}

type ReadCell = (csv: Buffer, from: number, to: number, token: JsonToken) => boolean

/** Reads a cell that is not empty into a token; false where it has to be read the slow way. */
const createCellReader = ({ kind }: Field): ReadCell => {
  switch (kind) {
    case 'number':
    case 'boolean':
      // The writers take only what is of their kind.
      return asToken
    case 'moment':
      return (csv, from, to, token) => asToken(csv, from, to, token) || asText(csv, from, to, token)
    case 'uuid':
    case 'reference':
    case 'item':
    case 'text':
    case 'country':
    case 'choice':
    case 'instant':
    case 'date':
      return asText
    default:
      return kind satisfies never
  }
}

// The word null is no null in CSV: an empty cell is.
const asToken: ReadCell = (csv, from, to, token) => readToken(csv, from, token) === to && token.kind !== 'null'

const asText: ReadCell = (_csv, from, to, token) => {
  token.kind = 'string'
  token.from = from
  token.to = to
  return true
}

const isLost = (text: string): boolean => Number(text) === 0 && /^[-.0]*[1-9]/.test(text)

/** What stands in a cell, in the type of its column. A cell that is not of this type stays text: the validator says what is wrong. */
const typed = (kind: Field['kind'] | undefined, text: string): unknown => {
  const isNumber = (kind === 'number' || kind === 'moment') && plainNumber.test(text) && !isLost(text)
  if (isNumber) return Number(text)
  return kind === 'boolean' && (text === 'true' || text === 'false') ? text === 'true' : text
}
