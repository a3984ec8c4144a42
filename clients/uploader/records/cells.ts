import { plainNumber } from '../../../schemas/csv-rows.js'
import type { Field } from '../../../schemas/field.js'
import { createToIso, type Dialect, withPoint } from '../read/dialect.js'
import { isExact } from '../read/row.js'

export type ReadCell = (field: Field, cell: string) => string | number | boolean

/** Reads the value that a field asks for. A cell that does not fit stays text, so that the service refuses it and says why. */
export const createReadCell = ({ decimal, dates }: Pick<Dialect, 'decimal' | 'dates'>): ReadCell => {
  const toIso = createToIso(dates)
  return (field, cell) => {
    if (field.kind === 'number' && decimal === ',') return readPlain(field, withPoint(cell), cell)
    if (dates !== '' && (field.kind === 'date' || field.kind === 'instant' || field.kind === 'moment')) {
      const iso = toIso(cell)
      // A day is no moment, and a moment no day: such a cell is refused as it stands in the file.
      return readPlain(field, iso.includes('T') === (field.kind !== 'date') ? iso : cell, cell)
    }
    return readPlain(field, cell, cell)
  }
}

/** Of a cell that does not fit, what was `given` is kept. */
const readPlain = (field: Field, cell: string, given: string): string | number | boolean => {
  switch (field.kind) {
    case 'number':
      return plainNumber.test(cell) && isKept(cell) ? Number(cell) : given
    case 'moment':
      return /^[1-9]\d*$/.test(cell) && isKept(cell) ? Number(cell) : cell
    case 'boolean':
      return cell === 'true' ? true : cell === 'false' ? false : cell
    case 'uuid':
    case 'reference':
    case 'item':
    case 'text':
    case 'country':
    case 'choice':
    case 'instant':
    case 'date':
      return cell
    default:
      return field satisfies never
  }
}

// Up to 15 digits are always kept.
const isKept = (digits: string): boolean => digits.length <= 15 || isExact(digits)
