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
  // One row of the distance table, overwritten letter by letter: a new row for each letter took four times as long.
  const row = new Uint16Array(b.length + 1).map((_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    let diagonal = i - 1
    row[0] = i
    for (let j = 1; j <= b.length; j++) {
      const above = row[j] ?? 0
      const swap = diagonal + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1)
      row[j] = Math.min(swap, above + 1, (row[j - 1] ?? 0) + 1)
      diagonal = above
    }
  }
  return row[b.length] ?? 0
}
