import type { FieldReference } from '../../typescript/src/endpoints.js'
import { isExact } from '../../typescript/src/files/exact.js'

/** A text that somebody typed or that stood in a cell, as the value that its field asks for; where it does not fit, as it was given. */
export const readCell = (field: FieldReference | undefined, cell: string, given = cell): string | number | boolean => {
  if (field?.kind === 'number') return plainNumber.test(cell) && isExact(cell) ? Number(cell) : given
  if (field?.kind === 'moment') return /^[1-9]\d*$/.test(cell) && isExact(cell) ? Number(cell) : cell
  if (field?.kind === 'boolean') return cell === 'true' ? true : cell === 'false' ? false : cell
  return cell
}

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
