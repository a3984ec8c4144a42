// JSON as it comes, in UTF-8: where its values begin and end. Whatever is unusual is left to those who read it slowly.

export const codes = {
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  dot: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  bracket: 0x5b,
  backslash: 0x5c,
  closingBracket: 0x5d,
  brace: 0x7b,
  closingBrace: 0x7d,
} as const

/** One value that is not an object nor an array, and where it stands: of a string, what is between its quotes. */
export type JsonToken = {
  kind: 'absent' | 'string' | 'escaped string' | 'number' | 'true' | 'false' | 'null'
  from: number
  to: number
  number: number
}

export const createToken = (): JsonToken => ({ kind: 'absent', from: 0, to: 0, number: 0.5 })

// More than anybody writes in one place; 16 MiB of them would take 20 ms.
const mostBlanks = 1000

/** The first place from here on that is not blank; or one within blanks, after `most` of them. */
export const skipBlanks = (json: Buffer, from: number, most = mostBlanks): number => {
  let at = from
  while (isBlank[json[at] as number] === 1 && at - from < most) at++
  return at
}

/** Reads the value that begins here into `token`; returns the place after it, or -1 where that is not to be read in haste. */
export const readToken = (json: Buffer, at: number, token: JsonToken): number => {
  const first = json[at] as number
  if (first === codes.quote) return readString(json, at + 1, token)
  if (first === codes.minus || isDigit(first)) return readNumber(json, at, token)
  for (const { kind, bytes } of words) {
    if (!standsAt(json, at, bytes)) continue
    token.kind = kind
    return at + bytes.length
  }
  return -1
}

/** Whether these bytes stand here. */
export const standsAt = (json: Buffer, at: number, bytes: Uint8Array): boolean => {
  for (let i = 0; i < bytes.length; i++) if (json[at + i] !== bytes[i]) return false
  return true
}

/** The place after the value that begins here, valid or not; some place beyond `longest` bytes where it is longer. */
export const skipValue = (json: Buffer, from: number, longest: number): number => {
  const end = Math.min(json.length, from + longest + 1)
  let depth = 0
  let at = from
  for (; at < end; at++) {
    const byte = json[at] as number
    if (byte === codes.quote) at = closingQuote(json, at + 1, end)
    else if (byte === codes.brace || byte === codes.bracket) depth++
    else if (byte === codes.closingBrace || byte === codes.closingBracket) {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (byte === codes.comma && depth === 0) return at
  }
  return at
}

/** How deep objects and arrays are nested in a text that is valid JSON. */
export const depthOf = (json: Buffer): number => {
  let depth = 0
  let deepest = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at] as number
    if (byte === codes.quote) at = closingQuote(json, at + 1, json.length)
    else if (byte === codes.brace || byte === codes.bracket) deepest = Math.max(deepest, ++depth)
    else if (byte === codes.closingBrace || byte === codes.closingBracket) depth--
  }
  return deepest
}

const closingQuote = (json: Buffer, from: number, end: number): number => {
  let at = from
  while (at < end && json[at] !== codes.quote) at += json[at] === codes.backslash ? 2 : 1
  return at
}

const words = [
  { kind: 'true' as const, bytes: Buffer.from('true') },
  { kind: 'false' as const, bytes: Buffer.from('false') },
  { kind: 'null' as const, bytes: Buffer.from('null') },
]

const isBlank = new Uint8Array(256)
for (const blank of ' \t\n\r') isBlank[blank.charCodeAt(0)] = 1

// Within a string: everything but a quote, a backslash and control characters.
const isPlain = new Uint8Array(256).fill(1, 0x20)
isPlain[codes.quote] = 0
isPlain[codes.backslash] = 0

// Longer than any text that is taken, each of its characters escaped.
const longestString = 2 * 1024 * 1024

const readString = (json: Buffer, from: number, token: JsonToken): number => {
  const end = from + longestString
  let at = from
  let kind: JsonToken['kind'] = 'string'
  for (;;) {
    while (at < end && isPlain[json[at] as number] === 1) at++
    if (json[at] === codes.quote) break
    if (json[at] !== codes.backslash || at >= end) return -1
    kind = 'escaped string'
    at += 2
  }
  token.kind = kind
  token.from = from
  token.to = at
  return at + 1
}

const isDigit = (byte: number): boolean => byte >= codes.zero && byte <= codes.nine

// Whole numbers of this many digits, and these powers of ten, are exact in a double: one division rounds as JSON.parse does.
const exactDigits = 15
const powersOfTen = Array.from({ length: exactDigits + 1 }, (_, n) => 10 ** n)
// The longest that a double can be without an exponent.
const longestNumber = 400

const readNumber = (json: Buffer, from: number, token: JsonToken): number => {
  const isNegative = json[from] === codes.minus
  const first = isNegative ? from + 1 : from
  const end = from + longestNumber
  let at = first
  let digits = 0
  for (; at < end && isDigit(json[at] as number); at++) digits = digits * 10 + (json[at] as number) - codes.zero
  const whole = at - first
  if (whole === 0 || (whole > 1 && json[first] === codes.zero)) return -1
  let decimals = 0
  if (json[at] === codes.dot) {
    for (at++; at < end && isDigit(json[at] as number); at++, decimals++)
      digits = digits * 10 + (json[at] as number) - codes.zero
    if (decimals === 0) return -1
  }
  token.kind = 'number'
  if (whole + decimals <= exactDigits && !isExponent(json[at])) {
    const value = digits / (powersOfTen[decimals] as number)
    token.number = isNegative ? -value : value
    return at
  }
  if (isExponent(json[at])) {
    at++
    if (json[at] === 0x2b || json[at] === codes.minus) at++
    const exponent = at
    while (at < end && isDigit(json[at] as number)) at++
    if (at === exponent) return -1
  }
  token.number = Number(json.toString('latin1', from, at))
  // Zero, or too close to zero to be kept.
  return token.number === 0 ? -1 : at
}

const isExponent = (byte: number | undefined): boolean => byte === 0x65 || byte === 0x45
