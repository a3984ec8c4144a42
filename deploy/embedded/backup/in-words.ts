/** An amount of bytes for people. */
export const inWords = (bytes: number): string => {
  const units = ['kB', 'MB', 'GB', 'TB']
  let [amount, unit] = [bytes / 1000, 0]
  for (; amount >= 1000 && unit < units.length - 1; unit++) amount /= 1000
  return `${amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[unit]}`
}
