import type { FieldReference, TypeReference } from '../../typescript/src/endpoints.js'
import { isOfRefused, isRemark, restored } from '../../typescript/src/files/refused-csv.js'

/**
 * An empty cell is an absent field. A cell that does not fit stays text, so that the service refuses it and says why. Of a file of
 * refused records, the columns that say why are left out, and cells are as they were before they were made harmless for Excel.
 */
export const toRecord = (
  type: TypeReference,
  columns: readonly string[],
  cells: readonly string[],
): Record<string, unknown> => {
  const record: Record<string, unknown> = {}
  const asMeant = isOfRefused(columns) ? restored : (cell: string) => cell
  for (const [index, column] of columns.entries()) {
    if (isRemark(column)) continue
    const [name, cell] = [asMeant(column), asMeant(cells[index] ?? '')]
    if (cell !== '') define(record, name, readCell(fieldOf(type, name), cell))
  }
  return record
}

/** A text that somebody typed or that stood in a cell, as the value that its field asks for. */
export const readCell = (field: FieldReference | undefined, cell: string): string | number | boolean => {
  if (field?.kind === 'number') return plainNumber.test(cell) && isExact(cell) ? Number(cell) : cell
  if (field?.kind === 'moment') return /^[1-9]\d*$/.test(cell) && isExact(cell) ? Number(cell) : cell
  if (field?.kind === 'boolean') return cell === 'true' ? true : cell === 'false' ? false : cell
  return cell
}

export const fieldOf = (type: TypeReference, name: string): FieldReference | undefined =>
  type.fields.find((field) => field.name === name)

/** JSON whose numbers are kept to the last digit. One that JavaScript cannot hold becomes text, which the service refuses. */
export const parseExactly = (text: string): unknown => {
  // Up to 15 digits are always kept.
  if (!/\d[\d.]{15}|\d[eE]/.test(text)) return JSON.parse(text)
  return JSON.parse(text, function (this: unknown, _name: string, value: unknown, ...more: unknown[]) {
    const { source } = (more[0] ?? {}) as { source?: string }
    return typeof value === 'number' && source !== undefined && !isExact(source) ? source : value
  } as (this: unknown, name: string, value: unknown) => unknown)
}

const plainNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/** Whether a number survives being read and written again. */
export const isExact = (text: string): boolean => {
  const value = Number(text)
  if (!Number.isFinite(value)) return false
  return digitsOf(text) === digitsOf(String(value))
}

/** The significant digits and where the point stands behind them: `1.50` and `15e-1` are the same. */
const digitsOf = (text: string): string => {
  const [, sign = '', whole = '', part = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = (whole + part).replace(/^0+/, '')
  if (digits === '') return '0'
  const kept = digits.replace(/0+$/, '')
  return `${sign}${kept}e${Number(exponent) - part.length + digits.length - kept.length}`
}

/** Also for a column that is called __proto__. */
const define = (record: Record<string, unknown>, name: string, value: unknown) =>
  Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true })
