/** A record of a CSV file: its cells and the line it begins in, or why it cannot be read. */
type CsvFileRow = { line: number; cells: string[]; fault?: string }

/** Reads CSV (RFC 4180) in pieces of any size. After a row that breaks the rules the next line begins anew. */
export const createCsvReader = (delimiter = ',') => {
  let state: 'start' | 'plain' | 'quoted' | 'closed' | 'broken' = 'start'
  let line = 1
  let begun = 1
  let cells: string[] = []
  let cell = ''
  // The text of a quoted row from its beginning: if its quote is never closed, reading begins anew in the line after that.
  let raw = ''
  let fault: string | undefined
  let isFirst = true

  const beginRow = () => {
    cells = []
    cell = ''
    raw = ''
    fault = undefined
    state = 'start'
    begun = line
  }
  const finish = (rows: CsvFileRow[]) => {
    const last = cell.endsWith('\r') && state !== 'closed' ? cell.slice(0, -1) : cell
    const isBlank = cells.length === 0 && last === '' && state !== 'closed' && fault === undefined
    // Excel takes its separator from a first line such as sep=;
    const saysSeparator = begun === 1 && /^sep=.\r?\n?$/.test(raw)
    if (!isBlank && !saysSeparator)
      rows.push({ line: begun, cells: [...cells, last], ...(fault !== undefined && { fault }) })
    beginRow()
  }

  const read = (text: string): CsvFileRow[] => {
    const rows: CsvFileRow[] = []
    for (let at = 0; at < text.length; at += 1) {
      const one = text.charAt(at)
      raw += one
      if (one === '\n') line += 1
      if (state === 'quoted') {
        if (one === '"') state = 'closed'
        else cell += one
        if (raw.length > longestRow) return [...rows, ...beginAnew(text.slice(at + 1))]
      } else if (one === '\n') finish(rows)
      else if (state === 'broken') cell += one
      else if (one === delimiter) {
        cells.push(cell)
        cell = ''
        state = 'start'
      } else if (state === 'closed') {
        if (one === '"') {
          cell += '"'
          state = 'quoted'
        } else if (one !== '\r') {
          fault = 'a closing quote is followed by something else: within a quoted cell, write a quote as ""'
          cell += one
          state = 'broken'
        }
      } else if (one === '"' && state === 'start') state = 'quoted'
      else if (one === '"') {
        fault = 'a quote stands in the middle of a cell: put the cell in quotes, and write the quote as ""'
        cell += one
        state = 'broken'
      } else {
        cell += one
        state = 'plain'
      }
    }
    return rows
  }

  /** The line in which the row began is the fault; what follows it is read again, and then what comes after. */
  const beginAnew = (after = ''): CsvFileRow[] => {
    const text = raw + after
    const cut = text.indexOf('\n')
    const broken: CsvFileRow = {
      line: begun,
      cells: [(cut === -1 ? text : text.slice(0, cut)).replace(/\r$/, '')],
      fault: 'a quote opens here and is never closed',
    }
    line = begun + 1
    beginRow()
    return cut === -1 ? [broken] : [broken, ...read(text.slice(cut + 1))]
  }

  return {
    /** Takes the next piece of the text, and gives the rows that are whole by now. */
    take: (text: string): CsvFileRow[] => {
      const given = isFirst ? text.replace(/^\ufeff/, '') : text
      if (text !== '') isFirst = false
      return read(given)
    },
    /** The last row, where the text does not end with a line break. */
    end: (): CsvFileRow[] => {
      const rows: CsvFileRow[] = []
      while (state === 'quoted') rows.push(...beginAnew())
      if (raw !== '') finish(rows)
      return rows
    },
  }
}

// A record has at most a few hundred kilobytes; a quote that is open for longer was meant otherwise.
const longestRow = 1024 * 1024
