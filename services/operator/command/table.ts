export type Column<Row> = {
  title: string
  cell: (row: Row) => string
  /** Whether the column may be narrowed where the table is wider than the terminal: its text goes on in the next line. */
  wraps?: boolean
}

const gap = 2
const narrowest = 8

/** A table for people, as wide as its content, and never wider than `width` while some column may be narrowed. */
export const toTable = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string =>
  rowsOf(columns, rows, width).join('\n')

/** The titles and the rows, each of one line or more. */
const rowsOf = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): string[] => {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ cell }) => cell(row)))]
  const widths = fitWidths(columns, cells, width)
  return cells.map((row) => toLines(row, widths))
}

/** One line for each row, or two where the terminal is narrow: the ids below the facts, so that they stay whole and can be copied. */
export const toTableWithIds = <Row>(
  facts: readonly Column<Row>[],
  ids: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): string => {
  const wide = toTable([...facts, ...ids], rows, Number.POSITIVE_INFINITY)
  if (Math.max(...wide.split('\n').map((line) => line.length)) <= width) return wide
  const first = rowsOf(facts, rows, width)
  const second = rowsOf(ids, rows, width - 2)
  return first.map((line, i) => `${line}\n  ${second[i]?.replaceAll('\n', '\n  ')}`).join('\n')
}

const fitWidths = <Row>(columns: readonly Column<Row>[], cells: string[][], width: number): number[] => {
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)))
  let excess = widths.reduce((sum, w) => sum + w + gap, -gap) - width
  while (excess > 0) {
    const widest = columns
      .flatMap((column, i) => (column.wraps && (widths[i] ?? 0) > narrowest ? [i] : []))
      .sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0]
    if (widest === undefined) break
    widths[widest] = (widths[widest] ?? 0) - 1
    excess--
  }
  return widths
}

const toLines = (row: string[], widths: number[]): string => {
  const wrapped = row.map((text, i) => wrap(text, widths[i] ?? text.length))
  const height = Math.max(...wrapped.map((lines) => lines.length))
  return Array.from({ length: height }, (_, line) =>
    wrapped
      .map((lines, i) => (lines[line] ?? '').padEnd((widths[i] ?? 0) + gap))
      .join('')
      .trimEnd(),
  ).join('\n')
}

/** Lines of at most `width`, broken at spaces where there are any. */
export const wrap = (text: string, width: number): string[] => {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line === '' || line.length + 1 + word.length <= width) lines[lines.length - 1] = line ? `${line} ${word}` : word
    else lines.push(word)
    // A word longer than a line is cut: a table that overflows cannot be read.
    for (let last = lines.at(-1) ?? ''; last.length > width; last = lines.at(-1) ?? '') {
      lines.splice(-1, 1, last.slice(0, width), last.slice(width))
    }
  }
  return lines
}

/** How far away a moment is, short enough for a table: "in 90 d", "5 min ago". */
export const toDistance = (then: Date, now: Date): string => {
  const ms = then.getTime() - now.getTime()
  const far = Math.abs(ms)
  const amount =
    far < 60_000
      ? 'a moment'
      : far < 2 * 3_600_000
        ? `${Math.round(far / 60_000)} min`
        : far < 2 * 86_400_000
          ? `${Math.round(far / 3_600_000)} h`
          : `${Math.round(far / 86_400_000)} d`
  return ms >= 0 ? `in ${amount}` : `${amount} ago`
}
