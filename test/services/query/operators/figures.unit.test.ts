import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type AfterVolume, type OrgVolume, rank, volumeOf } from '#query/operators/figures.js'

const few = fc.integer({ min: 0, max: 3 })
const volumes = fc.uniqueArray(
  fc.record({
    org: fc.stringMatching(/^[a-z]{1,3}$/),
    accepted: few,
    refused: few,
    waiting: few,
    oldestWait: fc.constant(null),
  }),
  { selector: ({ org }) => org },
)

it('gives every organisation once, page after page, those that sent the most first', () => {
  fc.assert(
    fc.property(volumes, fc.integer({ min: 1, max: 4 }), (all, most) => {
      const seen: OrgVolume[] = []
      for (let after: AfterVolume | undefined; ; ) {
        const page = rank(all, after).slice(0, most)
        seen.push(...page)
        const last = page.at(-1)
        if (!last) break
        after = { volume: volumeOf(last), org: last.org }
      }
      expect(seen.map(({ org }) => org).sort()).toEqual(all.map(({ org }) => org).sort())
      const counts = seen.map(volumeOf)
      expect(counts).toEqual([...counts].sort((a, b) => b - a))
    }),
  )
})
