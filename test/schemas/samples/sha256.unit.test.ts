import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { sha256 } from '#schemas/samples/sha256.js'

it('is SHA-256 of texts of every length', () => {
  for (let length = 0; length < 200; length++) {
    const text = 'Weir, 1 '.repeat(25).slice(0, length)
    const words = [...sha256(text)].map((word) => (word >>> 0).toString(16).padStart(8, '0'))
    expect(words.join('')).toBe(createHash('sha256').update(text).digest('hex'))
  }
})
