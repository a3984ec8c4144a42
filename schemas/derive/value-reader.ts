import { countries, noCountry } from '../countries.js'
import type { Field, Value } from '../field.js'
import type { ProblemCode } from '../problem.js'
import { firstYear, lastYear, readDate, readEpoch, readInstant, type Unread } from '../read-instant.js'
import { isUuid } from '../uuid.js'

export type Fault = { code: ProblemCode; message: string }

export const isFault = (result: Value | Fault): result is Fault => typeof result === 'object' && result !== null

export const longestText = 4096
/** JSON.parse has rounded numbers beyond this one. */
const largestExact = Number.MAX_SAFE_INTEGER

/** Reads one value that is present: returns the value to keep, or a fault, whose message is put after the field's name. */
export const createReader = (field: Field): ((given: unknown) => Value | Fault) => {
  switch (field.kind) {
    case 'uuid':
    case 'reference':
    case 'item':
      return readUuid
    case 'text':
      return createTextReader(field)
    case 'country':
      return readCountry
    case 'number':
      return createNumberReader(field)
    case 'boolean':
      return (given) => (typeof given === 'boolean' ? given : wrongType('a boolean', given))
    case 'choice': {
      const allowed = new Set(field.of)
      const fault: Fault = { code: 'not_one_of', message: `must be one of ${field.of.join(', ')}` }
      return (given) => (typeof given !== 'string' ? wrongType('a string', given) : allowed.has(given) ? given : fault)
    }
    case 'instant':
      return (given) =>
        typeof given === 'string' ? orFault(readInstant(given), anInstant) : wrongType('a string', given)
    case 'moment':
      return (given) => {
        if (typeof given === 'string') return orFault(readInstant(given), aMoment)
        return typeof given === 'number'
          ? orFault(readEpoch(given), aMoment)
          : wrongType('a string or an integer', given)
      }
    case 'date':
      return (given) => (typeof given === 'string' ? orFault(readDate(given), aDate) : wrongType('a string', given))
    default:
      return field satisfies never
  }
}

const years = `the years ${firstYear} to ${lastYear}`
const anInstant = {
  bad_format: 'must be an ISO 8601 date-time, like 2024-05-31T12:00:00Z',
  out_of_range: `must be within ${years}`,
}
const aMoment = {
  bad_format: 'must be a positive integer or an ISO 8601 date-time, like 2024-05-31T12:00:00Z',
  out_of_range: `must be positive and within ${years}`,
}
const aDate = { bad_format: 'must be a real day as YYYY-MM-DD', out_of_range: `must be within ${years}` }

const orFault = (read: number | Unread, messages: Record<Unread, string>): number | Fault =>
  typeof read === 'number' ? read : { code: read, message: messages[read] }

const wrongType = (wanted: string, given: unknown): Fault => ({
  code: 'wrong_type',
  message: `must be ${wanted}, not ${Array.isArray(given) ? 'an array' : typeof given === 'object' ? 'an object' : `a ${typeof given}`}`,
})

const readUuid = (given: unknown): Value | Fault => {
  if (typeof given !== 'string') return wrongType('a string', given)
  return given.length === 36 && isUuid(given) ? given.toLowerCase() : badUuid
}
const badUuid: Fault = { code: 'bad_format', message: 'must be a UUID, like 3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b' }

const createTextReader = ({ required, longest = longestText }: { required: boolean; longest?: number }) => {
  const tooLong: Fault = { code: 'out_of_range', message: `must be at most ${longest} characters long` }
  return (given: unknown): Value | Fault => {
    if (typeof given !== 'string') return wrongType('a string', given)
    // A character takes up to two units. Only where their number does not settle it are the characters counted.
    if (given.length > 2 * longest || (given.length > longest && [...given].length > longest)) return tooLong
    if (given.includes('\0')) return { code: 'bad_format', message: 'must not contain a NUL character' }
    if (!given.isWellFormed()) return { code: 'bad_format', message: 'must be valid Unicode, without lone surrogates' }
    if (required && given.trim() === '') return { code: 'bad_format', message: 'must not be blank' }
    return given
  }
}

const countryPattern = /^[A-Za-z]{2}$/
const readCountry = (given: unknown): Value | Fault => {
  if (typeof given !== 'string') return wrongType('a string', given)
  if (!countryPattern.test(given)) return { code: 'bad_format', message: 'must be a 2-letter country code, like GB' }
  const code = given.toUpperCase()
  return countries.has(code) ? code : { code: 'bad_format', message: noCountry(code) }
}

const createNumberReader = ({ above, min, max }: { above?: number; min?: number; max?: number }) => {
  const bounds = [
    above === undefined ? '' : `above ${above}`,
    min === undefined ? '' : `at least ${min}`,
    max === undefined ? '' : `at most ${max}`,
  ].filter(Boolean)
  const fault: Fault = { code: 'out_of_range', message: `must be ${bounds.join(' and ')}` }
  const inexact: Fault = { code: 'out_of_range', message: `must lie between ±${largestExact}, where numbers are exact` }
  return (given: unknown): Value | Fault => {
    if (typeof given !== 'number') return wrongType('a number', given)
    if (!(Math.abs(given) <= largestExact)) return inexact
    if ((above !== undefined && given <= above) || (min !== undefined && given < min)) return fault
    return max !== undefined && given > max ? fault : given
  }
}
