import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createMetrics } from '#platform/health/metrics.js'
import { createFigures } from '../../../../services/edge/figures.js'
import { type Bounds, boundsOf, createLoad, type Hold } from '../../../../services/edge/limits/load.js'

const create = (bounds: Bounds) => {
  const metrics = createMetrics('edge')
  return { ...createLoad(bounds, createFigures(metrics)), text: metrics.text }
}

it('never holds more than its bounds, and nothing once all is released', () => {
  const call = fc.record({
    org: fc.constantFrom('a', 'b', 'c'),
    expected: fc.nat(60),
    comes: fc.nat(80),
    leaves: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(call), (calls) => {
      const load = create({ bytes: 100, bytesOfOne: 50, batches: 1 })
      const held: { hold: Hold; org: string; bytes: number }[] = []
      for (const { org, expected, comes, leaves } of calls) {
        const hold = load.hold(org, expected)
        if (hold) held.push({ hold, org, bytes: hold.growTo(comes) ? comes : 0 })
        const sum = (of: typeof held) => of.reduce((total, one) => total + one.bytes, 0)
        expect(sum(held)).toBeLessThanOrEqual(100)
        expect(sum(held.filter((one) => one.org === org))).toBeLessThanOrEqual(50)
        if (leaves) held.shift()?.hold.release()
      }
      for (const { hold } of held) {
        hold.release()
        hold.release()
      }
      expect([load.hold('a', 50), load.hold('b', 50)].every(Boolean)).toBe(true)
    }),
    { numRuns: 50 },
  )
})

it('says why there is no room', async () => {
  const load = create({ bytes: 100, bytesOfOne: 60, batches: 1 })
  load.hold('a', 60)?.growTo(60)
  expect([load.hold('a', 1), load.hold('b', 41)]).toEqual([undefined, undefined])
  expect(await load.text()).toMatch(/shed_total{reason="org_bytes"} 1\n.*shed_total{reason="bytes"} 1/)
  expect(await load.text()).toContain('weir_edge_bytes_in_flight 60')
})

it('takes no more in while too many batches wait, and then again', async () => {
  const load = create({ bytes: 100, bytesOfOne: 100, batches: 2 })
  let decide = (_error: Error) => {}
  const submit = load.counting(
    () =>
      new Promise((_, reject) => {
        decide = reject
      }),
  )
  const batch = {} as never
  const one = submit('shops', [batch])
  expect(load.hold('a', 1)).toBeDefined()
  const decideOne = decide
  const another = submit('shops', [batch])
  expect(load.hold('a', 1)).toBeUndefined()
  expect(await load.text()).toContain('shed_total{reason="batches"} 1')
  decideOne(new Error('broken'))
  await expect(one).rejects.toThrow('broken')
  expect(load.hold('a', 1)).toBeDefined()
  decide(new Error('broken'))
  await expect(another).rejects.toThrow('broken')
})

it('has room for a full body of one organisation, or does not start', () => {
  const config = { MAX_BYTES_IN_FLIGHT: 128, MAX_BATCHES_IN_FLIGHT: 5, BODY_LIMIT: 16 }
  expect(boundsOf(config)).toEqual({ bytes: 128, bytesOfOne: 64, batches: 5 })
  expect(boundsOf({ ...config, BODY_LIMIT: 100 })).toEqual({ bytes: 128, bytesOfOne: 100, batches: 5 })
  expect(() => boundsOf({ ...config, BODY_LIMIT: 129 })).toThrow('MAX_BYTES_IN_FLIGHT must be at least BODY_LIMIT')
})
