/** The known name that a mistyped one most likely meant, or undefined where none is close. */
export const nearest = (given: string, known: readonly string[]): string | undefined => {
  const wanted = normalise(given)
  let best: { name: string; distance: number } | undefined
  for (const name of known) {
    // An edit distance costs length × length: names far longer than any of ours are not compared.
    if (Math.abs(wanted.length - name.length) > 3) continue
    const distance = editDistance(wanted, normalise(name))
    if (distance <= Math.max(2, Math.floor(name.length / 3)) && (!best || distance < best.distance))
      best = { name, distance }
  }
  return best?.name
}

const normalise = (name: string): string => (name.length > 64 ? name : name.toLowerCase().replaceAll(/[_\-\s]/g, ''))

const editDistance = (a: string, b: string): number => {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(swap, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    previous = row
  }
  return previous[b.length] ?? 0
}
