/** The exact sum of amounts that came as text, with up to nine decimals: numbers of JavaScript would round it. */
export const sumExactly = (amounts: readonly string[]): string => {
  const sum = amounts.reduce((total, amount) => total + toUnits(amount), 0n)
  const text = String(sum < 0n ? -sum : sum).padStart(decimals + 1, '0')
  const rest = text.slice(-decimals).replace(/0+$/, '')
  return `${sum < 0n ? '-' : ''}${text.slice(0, -decimals)}${rest && `.${rest}`}`
}

const decimals = 9

const toUnits = (amount: string): bigint => {
  const [whole = '', part = ''] = amount.replace('-', '').split('.')
  const units = BigInt(`${whole}${part.padEnd(decimals, '0').slice(0, decimals)}`)
  return amount.startsWith('-') ? -units : units
}

/** An amount for reading: to two decimals, with its thousands apart. */
export const money = (amount: string | number): string =>
  Number(amount).toLocaleString('en-GB', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
