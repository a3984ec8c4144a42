/** An amount of bytes for people. */
export const inWords = (bytes: number): string => {
  const units = ['kB', 'MB', 'GB', 'TB']
  let [amount, unit] = [bytes / 1000, 0]
  for (; amount >= 1000 && unit < units.length - 1; unit++) amount /= 1000
  return `${amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[unit]}`
}

const SAY_EVERY_MS = 5_000

/** Says every few seconds how far something long is: called with the bytes of each step. */
export const sayHowFar = (doing: string, total: number, say: (line: string) => void) => {
  let [done, saidAt] = [0, Date.now()]
  return (bytes: number): void => {
    done += bytes
    if (Date.now() - saidAt < SAY_EVERY_MS) return
    saidAt = Date.now()
    say(`${doing}: ${inWords(done)} of ${inWords(total)}`)
  }
}
