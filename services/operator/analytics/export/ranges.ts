/** A column of what rows are sorted by. */
export type KeyColumn = { name: string; type: string }
/** A value of each column of a key, as ClickHouse writes it. */
export type Bound = readonly string[]
/** The rows behind `after` up to and with `upTo`; a bound that is missing leaves that side open. */
export type KeyRange = { after?: Bound | undefined; upTo?: Bound | undefined }

/** Ranges that together hold every key once, whatever rows come and go: between two bounds that follow one another each. */
export const rangesBetween = (bounds: readonly Bound[]): KeyRange[] =>
  [...bounds, undefined].map((upTo, i) => ({ after: bounds[i - 1], upTo }))

/** The condition for a range, with its values bound to placeholders. */
export const rangeCondition = (
  key: readonly KeyColumn[],
  { after, upTo }: KeyRange,
): { where: string[]; values: Record<string, string> } => {
  const sides = [
    ...(after ? [{ bound: after, name: 'after', whole: '>', single: '>=' }] : []),
    ...(upTo ? [{ bound: upTo, name: 'up_to', whole: '<=', single: '<=' }] : []),
  ]
  const placeholder = (name: string, column: number) => `{${name}_${column}:${key[column]?.type}}`
  const names = key.map(({ name }) => name).join(', ')
  // ClickHouse finds rows by its index from a condition on a single column, and not from one on several together. As long as both bounds
  // begin with the same values, the next column tells, too.
  const same = after && upTo ? key.findIndex((_, i) => after[i] !== upTo[i]) : 0
  const told = key.slice(0, same === -1 ? key.length : same + 1)
  return {
    where: sides.flatMap(({ name, whole, single }) => [
      ...told.map((column, i) => `${column.name} ${single} ${placeholder(name, i)}`),
      `(${names}) ${whole} (${key.map((_, i) => placeholder(name, i)).join(', ')})`,
    ]),
    values: Object.fromEntries(
      sides.flatMap(({ bound, name }) => bound.map((value, i): [string, string] => [`${name}_${i}`, value])),
    ),
  }
}
