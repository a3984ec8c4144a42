import { type AnsweredRow, dayOf } from './marts.js'

/** Every day from the first to the last, both included: a day on which nothing was is a day too. Where an end is open, that of the rows. */
export const daysOf = (
  { from, to }: { from: string | null; to: string | null },
  rows: readonly AnsweredRow[],
): string[] => {
  const seen = rows.map(({ day }) => String(day)).sort()
  const first = Date.parse(from ?? seen[0] ?? '')
  const last = Date.parse(to ?? seen.at(-1) ?? '')
  const length = Math.min(mostDays, Math.floor((last - first) / 86_400_000) + 1)
  return length > 0 ? Array.from({ length }, (_, index) => dayOf(last - (length - 1 - index) * 86_400_000)) : []
}
// The last twenty years: more bars than a screen has points.
const mostDays = 7_305

/** A day as a chart takes it. */
export const secondsOf = (day: string): number => Date.parse(day) / 1000

/** For each day the sum of a column in the rows of it. */
export const sumsByDay = (days: readonly string[], rows: readonly AnsweredRow[], column: string): number[] => {
  const sums = new Map<string, number>()
  for (const row of rows) sums.set(String(row.day), (sums.get(String(row.day)) ?? 0) + Number(row[column] ?? 0))
  return days.map((day) => sums.get(day) ?? 0)
}
