/** What came of a query: rows as the texts of JSON lists, or what ClickHouse wrote where its rows would go on. */
export type RowsRead = {
  columns: { name: string; type: string }[]
  rows: string[]
  truncated: boolean
  /** An error that came after the first rows were sent. */
  problem?: string
}

const longestProblem = 10_000

/**
 * Reads lines of JSONCompactEachRowWithNamesAndTypes: the names, the types, then a list for each row. It reads no further than one row
 * behind the limits, so that the largest result costs no more than the largest answer. Rows stay texts: to read each and write it again
 * would keep the edge from its other work, and would round what JavaScript has no number for.
 */
export const readRows = async (
  chunks: AsyncIterable<Uint8Array>,
  most: { rows: number; bytes: number },
): Promise<RowsRead> => {
  const decoder = new TextDecoder()
  const head: string[][] = []
  const rows: string[] = []
  let [size, held, problem] = [0, '', '']

  /** Whether it goes on behind this line. */
  const take = (line: string): boolean => {
    if (problem || (line !== '' && !line.startsWith('['))) {
      problem += `${line}\n`
      return problem.length < longestProblem
    }
    if (line === '') return true
    if (head.length < 2) {
      head.push(JSON.parse(line) as string[])
      return true
    }
    size += line.length
    if (rows.length === most.rows || size > most.bytes) return false
    rows.push(line)
    return true
  }
  const result = (truncated: boolean): RowsRead => {
    const [names = [], types = []] = head
    const columns = names.map((name, at) => ({ name, type: types[at] ?? '' }))
    return { columns, rows, truncated, ...(problem && { problem }) }
  }

  for await (const chunk of chunks) {
    const lines = decoder.decode(chunk, { stream: true }).split('\n')
    const last = lines.pop() ?? ''
    for (const line of lines) {
      const whole = held + line
      held = ''
      if (!take(whole)) return result(true)
    }
    held += last
    // A row that is longer than all rows may be is not waited for.
    if (size + held.length > most.bytes) return result(true)
  }
  return result(held !== '' && !take(held))
}
