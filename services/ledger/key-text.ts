import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

// weir_<key_id>_<secret><checksum>: scanners find the prefix, and the checksum shows a mistyped key without Postgres.
const keyPattern = /^weir_([0-9A-Za-z]{12})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export const createKeyText = (): { keyId: string; key: string } => {
  const keyId = randomText(12)
  return { keyId, key: keyTextOf(keyId, randomText(32)) }
}

export const keyTextOf = (keyId: string, secret: string): string =>
  `weir_${keyId}_${secret}${checksum(`${keyId}_${secret}`)}`

/** The key_id in a key's text; undefined where the text is no key of ours or was mistyped. */
export const keyIdOf = (key: string): string | undefined => {
  const m = keyPattern.exec(key)
  return m && checksum(`${m[1]}_${m[2]}`) === m[3] ? m[1] : undefined
}

export const hashKey = (key: string): Buffer => createHash('sha256').update(key).digest()

/** Random letters and digits, 5.95 bits each. */
// 248 is the largest multiple of 62 in a byte: with the bytes above it some characters would come more often.
export const randomText = (length: number): string => {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) if (byte < 248 && text.length < length) text += alphabet[byte % 62]
  }
  return text
}

const checksum = (text: string): string => {
  let rest = crc32(text)
  let written = ''
  for (let i = 0; i < 6; i++) {
    written = alphabet[rest % 62] + written
    rest = Math.floor(rest / 62)
  }
  return written
}
