/** A number for each name, and the sum of them all. A name whose number is 0 is forgotten. */
export const createTally = () => {
  let sum = 0
  const counts = new Map<string, number>()
  const of = (name: string): number => counts.get(name) ?? 0
  const add = (name: string, more: number): void => {
    sum += more
    const own = of(name) + more
    if (own > 0) counts.set(name, own)
    else counts.delete(name)
  }
  return { of, add, all: () => sum }
}
