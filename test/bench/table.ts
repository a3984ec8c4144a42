/** Prints a titled table: names to the left, figures to the right. */
export const printTable = (title: string, head: string[], rows: (string | number)[][]): void => {
  const cells = [head, ...rows.map((row) => row.map(String))]
  const widths = head.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)))
  const line = (row: string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ')
  process.stdout.write(`\n${title}\n${cells.map((row) => `  ${line(row)}`).join('\n')}\n`)
}
