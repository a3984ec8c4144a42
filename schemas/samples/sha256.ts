// The SDK makes samples too, also in a browser, which has no SHA-256 that answers at once.

const hasDivisor = (n: number): boolean => Array.from({ length: n - 2 }, (_, i) => i + 2).some((i) => n % i === 0)
const primes = Array.from({ length: 310 }, (_, n) => n + 2).filter((n) => !hasDivisor(n))
const fractionOf = (root: number): number => (root % 1) * 2 ** 32
const rounds = Int32Array.from(primes, (prime) => fractionOf(Math.cbrt(prime)))
const begin = Int32Array.from(primes.slice(0, 8), (prime) => fractionOf(Math.sqrt(prime)))

const words = new Int32Array(64)

/** The SHA-256 of a text of ASCII, as eight words of 32 bits. */
export const sha256 = (text: string): Int32Array => {
  const { length } = text
  const padded = new Int32Array((((length + 8) >> 6) + 1) << 4)
  for (let n = 0; n <= length; n++) {
    const byte = n < length ? text.charCodeAt(n) : 0x80
    padded[n >> 2] = Number(padded[n >> 2]) | (byte << (24 - (n & 3) * 8))
  }
  padded[padded.length - 1] = length * 8
  const hash = begin.slice()
  for (let from = 0; from < padded.length; from += 16) addBlock(hash, padded.subarray(from, from + 16))
  return hash
}

const addBlock = (hash: Int32Array, block: Int32Array): void => {
  words.set(block)
  for (let n = 16; n < 64; n++) {
    const [x, y] = [words[n - 15] as number, words[n - 2] as number]
    const mixed =
      (((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)) +
      (((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10))
    words[n] = (mixed + (words[n - 16] as number) + (words[n - 7] as number)) | 0
  }
  let [a, b, c, d, e, f, g, h] = hash as unknown as [number, number, number, number, number, number, number, number]
  for (let n = 0; n < 64; n++) {
    const turnedE = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const turnedA = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const first = (h + turnedE + ((e & f) ^ (~e & g)) + (rounds[n] as number) + (words[n] as number)) | 0
    const second = (turnedA + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  for (const [n, added] of [a, b, c, d, e, f, g, h].entries()) hash[n] = (hash[n] as number) + added
}
