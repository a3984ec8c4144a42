/** Whether a number in decimal digits is the same number once JavaScript has read it. */
export const isExact = (digits: string): boolean => significant(digits) === significant(String(Number(digits)))

// 1200, 1.2e3 and 1200.0 are one number: the digits without zeros at either end, and the place of the point.
const significant = (text: string): string => {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const all = whole + fraction
  const digits = all.replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  if (kept === '') return '0'
  return `${sign}${kept}e${Number(exponent) - fraction.length + (digits.length - kept.length)}`
}
