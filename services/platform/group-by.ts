/** At least one of them. */
type NonEmpty<One> = [One, ...One[]]

/** In the order in which the first of each group comes. `Map.groupBy` does the same; Node 20 has none. */
export const groupBy = <Key, One>(all: Iterable<One>, keyOf: (one: One) => Key): Map<Key, NonEmpty<One>> => {
  const groups = new Map<Key, NonEmpty<One>>()
  for (const one of all) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  return groups
}
