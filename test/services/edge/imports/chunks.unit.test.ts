import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { createToEntry } from '../../../../services/edge/batches/entries.js'
import type { LinedFormat } from '../../../../services/edge/body/lines.js'
import { begin, createChunks } from '../../../../services/edge/imports/chunks.js'
import { createOpenLined } from '../../../../services/edge/uploads/lined.js'
import { anyPieces, csvOf, ndjsonOf } from '../../../support/lined.js'
import { sampleOf } from '../../../support/sample.js'
import { sized } from '../../../support/sized.js'

const shops = (count: number) => Array.from({ length: count }, () => sampleOf(shop))

describe('where an import is cut', () => {
  const open = createOpenLined(shop, createToEntry(shop))
  const createChunksOf =
    (format: LinedFormat) =>
    async (body: Buffer, sizes: readonly number[]): Promise<[number, number, number[], string][]> => {
      let at = 0
      let n = 0
      const nextPiece = async () => {
        const size = sizes[Math.min(n++, sizes.length - 1)] ?? 1
        const bytes = body.subarray(at, at + size)
        at += size
        return { bytes, isLast: at >= body.length }
      }
      const begun = await begin(open[format], nextPiece)
      if ('error' in begun) throw new Error(begun.error.message)
      const share = { growTo: async () => {}, shrinkTo: () => {}, release: () => {} }
      const next = createChunks(begun, { limit: 3, nextPiece, takeShare: async () => share })
      const found: [number, number, number[], string][] = []
      for (let chunk = await next(); chunk; chunk = await next())
        found.push([chunk.number, chunk.first, chunk.lines, chunk.sha256.toString('hex')])
      return found
    }

  it('depends on the body alone', async () => {
    const chunksOf = createChunksOf('ndjson')
    const line = fc.constantFrom('{}', '', '  ', 'nonsense', JSON.stringify(sampleOf(shop)))
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 12 }), anyPieces, async (lines, sizes) => {
        const body = Buffer.from(lines.join('\n'))
        const atOnce = await chunksOf(body, [body.length + 1])
        expect(await chunksOf(body, sizes)).toEqual(atOnce)
        expect(atOnce.flatMap(([, , chosen]) => chosen)).toHaveLength(lines.filter((one) => one.trim() !== '').length)
      }),
      { numRuns: sized(80, 300) },
    )
  })

  it.each(['ndjson', 'csv'] as const)(
    'does not depend on the network where a line of %s is longer than any record',
    async (format) => {
      const chunksOf = createChunksOf(format)
      const long = (length: number, end: string) => `${'x'.repeat(length)}${end}`
      const some = (count: number) =>
        format === 'ndjson' ? ndjsonOf(shops(count)) : csvOf(shop, shops(count)).replace(/^.*\n/, '')
      const limit = 3 * 1024 * 1024
      const header = format === 'csv' ? `${Object.keys(shop.fields).join(',')}\n` : ''
      const body = Buffer.from(
        [
          ...[header, some(2), long(limit + 200_000, '\n'), some(4), long(limit, '\n'), long(limit + 1, '\n'), some(1)],
          ...[' '.repeat(limit + 5_000), some(1), long(5_000_000, '\r\n'), some(7), long(limit + 70_000, '')],
        ].join(''),
      )
      const atOnce = await chunksOf(body, [body.length + 1])
      expect(atOnce.length).toBeGreaterThan(5)
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 65_536, max: 2_000_000 }), { minLength: 1, maxLength: 9 }),
          async (sizes) => {
            expect(await chunksOf(body, sizes)).toEqual(atOnce)
          },
        ),
        { numRuns: sized(1, 30) },
      )
    },
  )
})
