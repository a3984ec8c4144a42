import { expect, it } from 'vitest'
import { createDifferences } from '../../../../services/operator/verify/differences.js'
import { type Findings, isClean, toJson, toText, toVerification } from '../../../../services/operator/verify/report.js'
import { noCounts } from '../../../../services/operator/verify/subject.js'

const findings = (over: Partial<Findings> = {}): Findings => ({
  range: { since: Date.UTC(2026, 0, 1), until: undefined },
  now: Date.UTC(2026, 0, 2),
  counts: [
    {
      ...noCounts('tags'),
      batches: 2,
      records: 9,
      accepted: 7,
      onTopic: 7,
      refused: 2,
      onRejected: 2,
      keys: 5,
      rows: 5,
    },
    noCounts('shops'),
  ],
  differences: createDifferences(2),
  mended: undefined,
  ...over,
})
const withMissing = (count: number) => {
  const differences = createDifferences(2)
  for (let n = 0; n < count; n++)
    differences.add({ kind: 'row_missing', type: 'tags', where: `weir.accepted.tags/0 acme/${n}`, found: 'no row' })
  return differences
}

it('is one table where nothing differs, of the types that were sent', () => {
  expect(toText(findings(), 80)).toBe(
    [
      'submitted from 2026-01-01T00:00:00.000Z to now, as of 2026-01-02T00:00:00.000Z',
      '',
      'TYPE  RECORDS  WAITING  ACCEPTED  TOPIC  REFUSED  TOPIC  ROWS  DIFFER',
      'tags  9        0        7         7      2        2      5     0',
      '',
      'no difference',
    ].join('\n'),
  )
})

it('counts all differences, shows a few, and says what to do for the types concerned', () => {
  const text = toText(findings({ differences: withMissing(4) }), 120)
  expect(text).toContain('row_missing (4): ')
  expect(text).toContain('→ weir rebuild analytics --type tags\n')
  expect(text).toContain('  weir.accepted.tags/0 acme/1: no row\n  and 2 more')
  expect(text).not.toContain('acme/2')
  expect(JSON.parse(toJson(findings({ differences: withMissing(4) })))).toMatchObject({
    is_clean: false,
    types: [
      { type: 'tags', differences: { row_missing: 4 } },
      { type: 'shops', differences: {} },
    ],
    differences: [{ kind: 'row_missing' }, { kind: 'row_missing' }],
  })
})

it('counts what waits or is on its way beside the differences', () => {
  const text = toText(findings({ counts: [{ ...noCounts('tags'), batches: 1, waiting: 3, inFlight: 2 }] }), 80)
  expect(text).toContain('3 records wait to be decided\n2 events or rows are on their way\n')
  expect(text).toContain('no difference')
})

it('says so where nothing was sent', () => {
  expect(toText(findings({ counts: [noCounts('tags')] }), 80)).toMatch(/^nothing was submitted/)
})

it('is clean once all was mended, but not where something could not be', () => {
  const differences = createDifferences(2)
  differences.add({ kind: 'event_missing', type: 'tags', where: 'record 0', found: 'not on the topic' })
  const mended = { events: 1, rejections: 0, lost: [] }
  expect(isClean(findings({ differences }))).toBe(false)
  expect(isClean(findings({ differences, mended }))).toBe(true)
  expect(isClean(findings({ differences, mended: { ...mended, lost: ['acme/1'] } }))).toBe(false)
  expect(isClean(findings({ differences: withMissing(1), mended }))).toBe(false)
})

it('keeps of a run how many differences are left: not those that were mended', () => {
  const range = { since: new Date(Date.UTC(2026, 0, 1)), until: new Date(Date.UTC(2026, 0, 2)) }
  expect(toVerification(findings())).toEqual({ ...range, differences: 0, is_clean: true })
  const differences = withMissing(2)
  differences.add({ kind: 'event_missing', type: 'tags', where: 'weir.accepted.tags acme/9', found: 'no event' })
  expect(toVerification(findings({ differences }))).toEqual({ ...range, differences: 3, is_clean: false })
  const mended = { events: 1, rejections: 0, lost: [] }
  expect(toVerification(findings({ differences, mended }))).toEqual({ ...range, differences: 2, is_clean: false })
})
