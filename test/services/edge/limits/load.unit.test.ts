import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createMetrics } from '#platform/health/metrics.js'
import { createFigures } from '../../../../services/edge/figures.js'
import { type Bounds, boundsOf, createLoad, type Hold, type Load } from '../../../../services/edge/limits/load.js'

const forImports = { importBytes: 50, importBytesOfOne: 20 }

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
      const load = create({ ...forImports, bytes: 100, bytesOfOne: 50, batches: 1, records: 5, recordsOfOne: 1 })
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
  const load = create({ ...forImports, bytes: 100, bytesOfOne: 60, batches: 1, records: 5, recordsOfOne: 1 })
  load.hold('a', 60)?.growTo(60)
  expect([load.hold('a', 1), load.hold('b', 41)]).toEqual([undefined, undefined])
  expect(await load.text()).toMatch(/shed_total{reason="org_bytes"} 1\n.*shed_total{reason="bytes"} 1/)
  expect(await load.text()).toContain('weir_edge_bytes_in_flight 60')
})

/** Batches of an organisation that wait for their verdict until `decide` is called. */
const submitTo = (load: Pick<Load, 'count'>, org: string, batches: number, records = 1) => {
  const batch = { org_id: org, records: Array.from({ length: records }), refusals: [] } as never
  const gone = Array.from({ length: batches }, () => load.count(batch))
  return async () => {
    // The second time it changes nothing.
    for (const release of [...gone, ...gone]) release()
  }
}

const roomy = { ...forImports, bytes: 100, bytesOfOne: 100, batches: 100, records: 1_500, recordsOfOne: 1_000 }

it('takes no more in while too many batches wait, and then again', async () => {
  const load = create(roomy)
  const decide = submitTo(load, 'a', 99)
  expect(load.hold('b', 1)).toBeDefined()
  submitTo(load, 'c', 1)
  expect(load.hold('b', 1)).toBeUndefined()
  expect(await load.text()).toContain('shed_total{reason="batches"} 1')
  await decide()
  expect(load.hold('b', 1)).toBeDefined()
})

it('leaves one organisation three quarters of the batches, and keeps room for another', async () => {
  const load = create(roomy)
  submitTo(load, 'a', 74)
  expect(load.hold('a', 1)).toBeDefined()
  submitTo(load, 'a', 1)
  expect(load.hold('a', 1)).toBeUndefined()
  expect(await load.text()).toContain('shed_total{reason="org_batches"} 1')
  for (let taken = 0; taken < 18; taken++) {
    expect(load.hold('b', 1)).toBeDefined()
    submitTo(load, 'b', 1)
  }
  submitTo(load, 'b', 1)
  expect([load.hold('b', 1), load.hold('c', 1)]).toEqual([undefined, expect.anything()])
})

it('lets the large bodies of everybody wait while enough records are undecided in all', async () => {
  const load = create({ ...roomy, records: 1_500 })
  const decide = submitTo(load, 'a', 1, 900)
  submitTo(load, 'b', 1, 600)
  let isRead = false
  const read = load.hold('c', 1)?.inTurn(async () => {
    isRead = true
    return isRead
  })
  await wait(20)
  expect(isRead).toBe(false)
  await decide()
  expect(await read).toBe(true)
})

it('lets the large bodies of an organisation wait while enough of its records are undecided', async () => {
  const load = create(roomy)
  const read: string[] = []
  const readOf = (org: string) => load.hold(org, 1)?.inTurn(async () => read.push(org))
  const decide = submitTo(load, 'a', 2, 500)
  const waiting = readOf('a')
  await readOf('b')
  expect(read).toEqual(['b'])
  await decide()
  await waiting
  expect(read).toEqual(['b', 'a'])
})

it('has room for a full body of one organisation, or does not start', () => {
  const config = { MAX_BYTES_IN_FLIGHT: 128, MAX_RECORDS_IN_FLIGHT: 100, MAX_BATCHES_IN_FLIGHT: 5, BODY_LIMIT: 16 }
  const ofImports = { importBytes: 128, importBytesOfOne: 128 }
  expect(boundsOf(config)).toEqual({
    ...ofImports,
    ...{ bytes: 128, bytesOfOne: 64, batches: 5, records: 100, recordsOfOne: 20 },
  })
  expect(boundsOf({ ...config, BODY_LIMIT: 100 })).toEqual({
    ...ofImports,
    ...{ bytes: 128, bytesOfOne: 100, batches: 5, records: 100, recordsOfOne: 20 },
  })
  const mib = 1024 * 1024
  expect(boundsOf({ ...config, MAX_BYTES_IN_FLIGHT: 128 * mib })).toMatchObject({
    ...{ importBytes: 64 * mib, importBytesOfOne: 16 * mib },
  })
  expect(() => boundsOf({ ...config, BODY_LIMIT: 129 })).toThrow('MAX_BYTES_IN_FLIGHT must be at least BODY_LIMIT')
})

it('leaves half of its bytes to uploads, however many imports there are, and a part of the other half to one organisation', () => {
  const load = create({ ...roomy, bytesOfOne: 50 })
  const holdAll = (org: string): number => {
    let held = 0
    while (load.hold(org, 5, 'import')?.growTo(5)) held += 5
    return held
  }
  expect(['a', 'b', 'c', 'd'].map(holdAll)).toEqual([20, 20, 10, 0])
  expect(load.hasRoom('d', 5, 'import')).toBe(false)
  expect(load.hold('d', 50)?.growTo(50)).toBe(true)
})

it('gives back what an import reserved and did not take', () => {
  const load = create(roomy)
  const hold = load.hold('a', 20, 'import')
  hold?.growTo(20)
  expect(load.hasRoom('a', 1, 'import')).toBe(false)
  hold?.shrinkTo(5)
  expect([load.hasRoom('a', 15, 'import'), load.hasRoom('a', 16, 'import')]).toEqual([true, false])
  hold?.release()
  hold?.shrinkTo(0)
  expect([load.hasRoom('a', 20, 'import'), load.hasRoom('a', 21, 'import')]).toEqual([true, false])
})
