/**
 * The members of a list by a key, in the order in which each key came first. `Map.groupBy` does the same, from Node 21 on: Weir runs
 * on Node 20 too.
 */
export const groupBy = <Key, One>(all: Iterable<One>, keyOf: (one: One) => Key): Map<Key, [One, ...One[]]> => {
  const groups = new Map<Key, [One, ...One[]]>()
  for (const one of all) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group) group.push(one)
    else groups.set(key, [one])
  }
  return groups
}
