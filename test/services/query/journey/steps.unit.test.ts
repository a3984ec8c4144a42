import fc from 'fast-check'
import { uuidv7 } from 'uuidv7'
import { expect, it } from 'vitest'
import { type RecordVersion, type RefusedVersion, stepsOf, type WaitedVersion } from '#query/journey/steps.js'
import { usualLayout } from '#schemas/derive/topics.js'
import { shop } from '#schemas/records/shop.js'

const id = '3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b'
const given = { type: shop, orgId: 'acme', id, layout: usualLayout }
const version = (n: number, values: Record<string, unknown>): RecordVersion => ({
  requestId: uuidv7(),
  batchId: `batch-${n}`,
  acceptedAt: new Date(Date.now() + 1000 * n),
  version: n,
  values: { shop_id: id, name: 'a', region: 'GB', is_deleted: null, ...values },
})
const refusal = (n: number): RefusedVersion => ({
  requestId: uuidv7(),
  batchId: `batch-${n}`,
  rejectedAt: new Date(Date.now() + 1000 * n),
  version: n,
  problems: [
    { field: 'region', code: 'bad_format', message: 'region must be a 2-letter country code' },
    { field: 'name', code: 'missing_field', message: 'name is required' },
  ],
})

it('tells the whole way of a record that was refused, mended, changed and deleted', () => {
  const versions = [
    version(2, {}),
    version(3, { name: 'b' }),
    version(4, { name: 'b' }),
    version(5, { name: 'b', is_deleted: true }),
  ]
  const source = { topic: 'weir.submitted.shops', partition: 1, offset: 7 }
  const sources = new Map([
    ['batch-2', { ...source, key_id: 'k7f3a9c1' }],
    ['batch-3', { ...source, key_id: null }],
  ])
  const offsets = new Map([[4, 1234]])
  const steps = stepsOf(given, { versions, before: undefined, refusals: [refusal(1)], waits: [], sources, offsets })
  expect(steps.map(({ kind }) => kind)).toEqual([
    ...['received', 'refused'],
    ...['received', 'accepted', 'published'],
    ...['received', 'changed', 'published'],
    ...['received', 'changed', 'published'],
    ...['received', 'deleted', 'published', 'stored'],
  ])
  expect(steps[1]).toMatchObject({
    words: 'Refused: region must be a 2-letter country code, and 1 more.',
    batch_id: 'batch-1',
  })
  expect(steps[0]).toMatchObject({ kind: 'received', words: 'Received in a request.' })
  expect(steps[0]).not.toHaveProperty('key_id')
  expect(steps[2]).toMatchObject({ ...source, key_id: 'k7f3a9c1' })
  expect(steps[2]?.words).toBe('Received in a request, sent with the key k7f3a9c1.')
  expect(steps[5]).toMatchObject({ ...source, words: 'Received in a request.' })
  expect(steps[5]).not.toHaveProperty('key_id')
  expect(steps[4]).not.toHaveProperty('offset')
  expect(steps[6]).toMatchObject({ changes: [{ field: 'name', before: 'a', after: 'b' }], version: 3 })
  expect(steps[9]).toMatchObject({ changes: [], words: 'Sent again; nothing changed.' })
  const published = { topic: 'weir.accepted.shops', partition: expect.any(Number), version: 4, offset: 1234 }
  expect(steps[10]).toMatchObject(published)
  expect(steps.at(-1)).toMatchObject({
    row: { name: 'b', version: 5 },
    words: expect.stringContaining('no longer shows it'),
  })
})

const nowhere = { sources: new Map(), offsets: new Map() }
const wait = (n: number, seconds: number, state: WaitedVersion['state']): WaitedVersion => ({
  requestId: uuidv7(),
  batchId: `batch-${n}`,
  since: new Date(Date.now() + 1000 * seconds),
  until: new Date(Date.now() + 86_400_000),
  state,
  changedAt: new Date(Date.now() + 1000 * seconds + 500),
  missing: [{ field: 'tag_id', type: 'tags', id }],
})

it('tells of waiting: accepted in the end, replaced, cancelled, too late, and still', () => {
  const waits = [
    wait(20, 1, 'accepted'),
    wait(8, 21, 'superseded'),
    wait(30, 22, 'refused'),
    wait(9, 31, 'cancelled'),
    wait(40, 32, 'waiting'),
  ]
  const versions = [version(20, {})]
  const refusals = [refusal(30)]
  const steps = stepsOf(given, { versions, before: undefined, refusals, waits, ...nowhere })
  expect(steps.map(({ kind }) => kind)).toEqual([
    ...['received', 'waited', 'accepted', 'published', 'stored'],
    ...['received', 'waited', 'superseded'],
    ...['received', 'waited', 'expired', 'refused'],
    ...['received', 'waited', 'cancelled'],
    ...['received', 'waited'],
  ])
  expect(steps[1]).toMatchObject({ words: `Waited for tags ${id}.`, batch_id: 'batch-20' })
  expect(steps.at(-1)?.words).toContain(`Waits for tags ${id}, until `)
})

it('puts a wait with what it came to, where the table of waits is behind, and keeps one whose end is still to come', () => {
  const known = { before: undefined, refusals: [], ...nowhere }
  const behind = stepsOf(given, { ...known, versions: [version(20, {})], waits: [wait(20, 1, 'waiting')] })
  expect(behind.map(({ kind }) => kind)).toEqual(['received', 'waited', 'accepted', 'published', 'stored'])
  const ahead = stepsOf(given, { ...known, versions: [], waits: [wait(20, 1, 'accepted')] })
  expect(ahead.map(({ kind }) => kind)).toEqual(['received', 'waited'])
  const twin = version(20, {})
  const beside = { ...wait(20, 0, 'waiting'), since: twin.acceptedAt }
  expect(stepsOf(given, { ...known, versions: [twin], waits: [beside] }).map(({ kind }) => kind)).toEqual([
    ...['received', 'accepted', 'published', 'stored'],
    ...['received', 'waited'],
  ])
  const older = { ...known, versions: [version(20, {})], before: version(10, {}) }
  expect(stepsOf(given, { ...older, waits: [wait(5, 5, 'accepted')] }).map(({ kind }) => kind)).not.toContain('waited')
})

it('orders by versions, says of each version what it changed, and never when something came after it was decided', () => {
  const place = fc.record({
    n: fc.integer({ min: 1, max: 1000 }),
    name: fc.constantFrom('a', 'b'),
    isRefused: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.uniqueArray(place, { selector: ({ n }) => n, maxLength: 12 }), (places) => {
      const sorted = [...places].sort((a, b) => a.n - b.n)
      const versions = sorted.filter(({ isRefused }) => !isRefused).map(({ n, name }) => version(n, { name }))
      const refusals = sorted.filter(({ isRefused }) => isRefused).map(({ n }) => refusal(n))
      const [before, ...shown] = versions
      const steps = stepsOf(given, { versions: shown, before, refusals, waits: [], ...nowhere })
      const numbers = steps.flatMap(({ version }) => version ?? [])
      expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
      expect(steps.filter(({ kind }) => kind === 'changed')).toHaveLength(shown.length)
      shown.forEach(({ version, values }, i) => {
        const step = steps.find((one) => one.version === version && one.kind === 'changed')
        expect(step?.changes).toHaveLength(values.name === versions[i]?.values.name ? 0 : 1)
      })
      steps.forEach((one, i) => {
        if (one.kind === 'received') expect(one.at.getTime()).toBeLessThanOrEqual(steps[i + 1]?.at.getTime() ?? 0)
      })
    }),
  )
})
