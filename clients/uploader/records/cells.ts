import { plainNumber } from '../../../schemas/csv-rows.js'
import type { Field } from '../../../schemas/field.js'
import { createToPlain, type Dialect } from '../../typescript/src/files/dialect.js'
import { isExact } from '../../typescript/src/files/exact.js'

export type ReadCell = (field: Field, cell: string) => string | number | boolean

/** Reads the value that a field asks for. A cell that does not fit stays text, so that the service refuses it and says why. */
export const createReadCell = (dialect: Pick<Dialect, 'decimal' | 'dates'>): ReadCell => {
  const toPlain = createToPlain(dialect)
  return (field, cell) => readPlain(field, toPlain(field.kind, cell), cell)
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
