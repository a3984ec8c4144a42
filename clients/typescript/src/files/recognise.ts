import type { Dialect } from './dialect.js'

// What a file says itself is taken from it where it can mean one thing only; otherwise people are asked, since a guess that is
// wrong sends a million wrong numbers.

/** What a file shows of one thing about it: what it is, or what it may be, and why that is not certain. */
export type Recognised<Value extends string> = { is: Value } | { either: Value[]; why: string }

/** What a byte order mark says, which is certain. */
export const markedEncoding = ([first, second, third]: Uint8Array): string | undefined => {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

/** By the first bytes of a file. */
export const recogniseEncoding = (start: Uint8Array): Recognised<string> => {
  const marked = markedEncoding(start)
  if (marked !== undefined) return { is: marked }
  const zeros = [0, 0]
  for (let at = 0; at < start.length; at++) if (start[at] === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  if (odd > start.length / 5 && even === 0) return { is: 'utf-16le' }
  if (even > start.length / 5 && odd === 0) return { is: 'utf-16be' }
  const beyondAscii = new TextDecoder().decode(start, { stream: true }).match(/[^\0-\x7f]/gu) ?? []
  // Where some of it is right UTF-8, what is not is a broken line, and is refused as one.
  if (beyondAscii.length === 0 || beyondAscii.some((sign) => sign !== '\ufffd')) return { is: 'utf-8' }
  return { either: ['windows-1252', 'utf-8'], why: 'the text is not UTF-8' }
}

/** By the line that names the columns; `isKnown` says whether such a column is looked for. */
export const recogniseDelimiter = (text: string, isKnown: (name: string) => boolean): Recognised<string> => {
  const said = /^\ufeff?sep=(.)\r?\n/.exec(text)?.[1]
  if (said !== undefined) return { is: said }
  const [header = ''] = text
    .replace(/^\ufeff/, '')
    .replace(/"(?:[^"]|"")*"/g, (cell) => cell.replace(/[^\w]/g, ''))
    .split(/\r?\n/, 1)
  const found = [',', ';', '\t', '|'].filter((sign) => header.includes(sign))
  if (found.length < 2) return { is: found[0] ?? ',' }
  const [sign, ...others] = found.filter((each) => header.split(each).some(isKnown))
  if (sign !== undefined && others.length === 0) return { is: sign }
  return { either: found, why: 'what separates the cells is not certain' }
}

/** By cells that are numbers. */
export const recogniseDecimal = (cells: readonly string[], delimiter: string): Recognised<Dialect['decimal']> => {
  const withComma = cells.filter((cell) => /^-?\d+(?:\.\d{3})*,\d+$/.test(cell))
  const dotted = cells.find((cell) => /^-?\d+\.\d+$/.test(cell))
  const [first] = withComma
  if (first === undefined) return { is: '.' }
  const isCertain = withComma.some((cell) => !/^-?[1-9]\d{0,2}(?:,\d{3})+$/.test(cell))
  if (isCertain && dotted === undefined) return { is: ',' }
  // Between commas, a number with one is a slip, and is refused by itself.
  if (delimiter === ',') return { is: '.' }
  const since = dotted === undefined ? '' : `, since there is ${JSON.stringify(dotted)} too`
  return { either: [',', '.'], why: `what the comma in ${JSON.stringify(first)} means is not certain${since}` }
}

/** By cells that are days or moments. */
export const recogniseDates = (cells: readonly string[]): Recognised<string> => {
  const days = cells.map((cell) => /^(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?=[ T]|$)/.exec(cell))
  const [sign] = days.map((day) => day?.[2])
  // A form of its own is taken for one only where all have it; otherwise what is not ISO 8601 is refused by itself.
  if (sign === undefined || days.some((day) => day?.[2] !== sign)) return { is: '' }
  const [first, second, third] = [1, 3, 4].map((part) => days.map((day) => day?.[part] ?? '')) as [
    string[],
    string[],
    string[],
  ]
  if (first.every((part) => part.length === 4)) return { is: sign === '-' ? '' : `YYYY${sign}MM${sign}DD` }
  if (third.some((part) => part.length !== 4) || first.some((part) => part.length > 2)) return { is: '' }
  const dayFirst = `DD${sign}MM${sign}YYYY`
  const monthFirst = `MM${sign}DD${sign}YYYY`
  if (sign === '.') return { is: dayFirst }
  const [isDay, isDayToo] = [first, second].map((parts) => parts.some((part) => Number(part) > 12))
  if (isDay !== isDayToo) return { is: isDay ? dayFirst : monthFirst }
  if (isDay) return { is: '' }
  return {
    either: [dayFirst, monthFirst],
    why: `whether ${JSON.stringify(cells[0])} begins with the day or the month is not certain`,
  }
}
