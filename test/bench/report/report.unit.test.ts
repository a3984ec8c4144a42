import { describe, expect, it } from 'vitest'
import { capacityTables } from '../capacity/tables.js'
import type { Results } from '../results.js'
import { sampleMeasured, sampleResults } from '../sample-results.js'
import { documentsOf, readDocument, withSection } from './documents.js'
import { plotOf } from './svg.js'
import { headlineOf, problemsOf, tablesOf, toMarkdown, toText } from './tables.js'

describe('tables', () => {
  const large = sampleMeasured(
    { name: 'half load', answeredPerSecond: 123_456, storedPerSecond: 123_456 },
    { edge: 1234, integrity: 1234, sink: 1234, kafka: 1234, postgres: 1234, clickhouse: 1234, generator: 1234 },
  )
  const grown = { ...large, name: '10 004 000 shops known' }
  const growth = {
    entities: { few: 10_000, many: 10_004_000 },
    organisations: { few: 10, many: 1000 },
    withFew: grown,
    withMany: grown,
    ofFew: grown,
    ofMany: grown,
    memory: {},
  }
  const results = sampleResults({ halfLoad: large, flood: { ...large, name: '150 uploads at once' }, growth })

  it.each(tablesOf(results))('fit a terminal of 80 columns: $title', (table) => {
    expect(
      toText(table)
        .split('\n')
        .filter((line) => line.length > 80),
    ).toEqual([])
  })

  it('have a cell for each heading', () => {
    const tables = [...tablesOf(results), ...capacityTables(results)]
    expect(tables.flatMap(({ head, rows }) => rows.filter((row) => row.length !== head.length))).toEqual([])
    expect(JSON.stringify(tables)).not.toMatch(/NaN|undefined|Infinity/)
  })

  it('line names up to the left and figures to the right', () => {
    const table = {
      title: 'A table',
      head: ['', 'µs'],
      rows: [
        ['one', '1'],
        ['eleven', '11.0'],
      ],
    }
    expect(toText(table)).toBe('A table\n          µs\none        1\neleven  11.0\n')
    expect(toMarkdown(table)).toBe('### A table\n\n|  | µs |\n| --- | --: |\n| one | 1 |\n| eleven | 11.0 |\n')
  })

  it('say what else the machine did, and which requests were not taken', () => {
    expect(headlineOf(results)).toContain('others kept 0.2 cores busy meanwhile, load average up to 2.5')
    const refusing = sampleMeasured({
      name: 'too many',
      statuses: { 200: 3, 503: 2 },
      problem: '/a answered 503: later',
    })
    expect(problemsOf(sampleResults({ halfLoad: refusing }))).toEqual([
      'too many: 3 × 200, 2 × 503; /a answered 503: later',
    ])
    expect(problemsOf(results)).toEqual([])
    const beside = results.workloads.map((each) => ({ ...each, othersCores: 0.9 }))
    expect(problemsOf({ ...results, workloads: beside })).toEqual([expect.stringContaining('much else to do')])
  })
})

describe('the plot', () => {
  it('names every load and closes every element', () => {
    const plot = plotOf(sampleResults())
    for (const { name } of sampleResults().workloads) expect(plot).toContain(`>${name}<`)
    const opened = [...plot.matchAll(/<([a-z]+)[^>]*?(\/?)>/g)]
      .filter(([, , closed]) => closed === '')
      .map(([, tag]) => tag)
    const closed = [...plot.matchAll(/<\/([a-z]+)>/g)].map(([, tag]) => tag)
    expect(closed.sort()).toEqual(opened.sort())
    expect(plot).toContain('prefers-color-scheme: dark')
    expect(plot).toContain('others kept 0.2 cores busy')
  })

  it('draws nothing outside of itself, and bars as long as they cost', () => {
    const plot = plotOf(sampleResults())
    const bars = [
      ...plot.matchAll(/<rect class="(edge|integrity|sink)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="18"/g),
    ]
    expect(bars).toHaveLength(13 * 3)
    for (const [, , x, width] of bars) expect(Number(x) + Number(width)).toBeLessThanOrEqual(860)
    const [edge, integrity] = bars.map(([, , , width]) => Number(width))
    expect((integrity ?? 0) / (edge ?? 1)).toBeCloseTo(8.18 / 4.08, 1)
  })

  it('keeps uploads apart where an interaction costs hundreds of times as much', () => {
    const dear = sampleMeasured({ name: 'dear', type: 'interactions' }, { edge: 3000, integrity: 3000, sink: 700 })
    const plot = plotOf(sampleResults({ workloads: [sampleMeasured({}, { edge: 5, integrity: 9, sink: 4 }), dear] }))
    const bars = [...plot.matchAll(/x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="18"/g)]
    const ends = bars.map(([, x, width]) => Number(x) + Number(width))
    expect(ends[2]).toBeCloseTo(ends[5] ?? 0, 0)
    expect(ends[4]).toBeLessThan(ends[5] ?? 0)
    expect(Math.max(...ends)).toBeLessThanOrEqual(860 - 230)
  })

  it('escapes what a name holds', () => {
    const plot = plotOf(sampleResults({ workloads: [sampleMeasured({ name: 'a <b> & c' })] }))
    expect(plot).toContain('a &lt;b> &amp; c')
  })
})

describe('documents', () => {
  it('change between their two marks, and nowhere else', () => {
    const page = '# A\n\n<!-- written by npm run bench -->\nold\n<!-- until here -->\n\nmore\n'
    const changed = '# A\n\n<!-- written by npm run bench -->\n\nnew\n\n<!-- until here -->\n\nmore\n'
    expect(withSection(page, 'new\n')).toBe(changed)
    expect(withSection(changed, 'new')).toBe(changed)
    expect(() => withSection('# A\n', 'new')).toThrow('put both back')
  })

  it('show the run in docs/performance.json, made by the bench as it is now', () => {
    const results = JSON.parse(readDocument('docs/performance.json')) as Results
    const again = 'npm run bench -- --from docs/performance.json --docs'
    for (const [path, text] of documentsOf(results, readDocument))
      expect(readDocument(path) === text, `${path} is not what its run says; write it anew: ${again}`).toBe(true)
  })
})
