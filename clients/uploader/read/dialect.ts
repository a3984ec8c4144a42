import type { Dialect } from '../../typescript/src/files/dialect.js'
import { UsageError } from './row.js'

// The options that say how a file is written.

export const readEncoding = (given: string): string => {
  try {
    return new TextDecoder(given).encoding
  } catch {
    throw new UsageError(`there is no encoding ${given}: write one such as --encoding windows-1252 or utf-16le`)
  }
}

export const readDelimiter = (given: string): string => {
  const found = given === 'tab' || given === '\\t' ? '\t' : given
  if (/^[!-~\t]$/.test(found) && !/["'\w]/.test(found)) return found
  throw new UsageError(`"${given}" separates no cells: write one sign, such as --delimiter ';' or --delimiter tab`)
}

export const readDecimal = (given: string): Dialect['decimal'] => {
  if (given === '.' || given === ',') return given
  throw new UsageError(`"${given}" is no decimal mark: write --decimal , or --decimal .`)
}

export const readDateFormat = (given: string): string => {
  const parts = given.split(/[^A-Z]/)
  if (!/^[DMY]+([./-])[DMY]+\1[DMY]+$/.test(given) || [...parts].sort().join() !== 'DD,MM,YYYY')
    throw new UsageError(`"${given}" is no form of a date: write DD, MM and YYYY, such as --date-format DD.MM.YYYY`)
  return given === 'YYYY-MM-DD' ? '' : given
}
