import { cpuOf, type Measured, naivePrice, type Results, services } from '../results.js'
import { count } from './goals.js'
import { surroundingsOf } from './tables.js'

// A plot without a library: bars for each load, one part for each service. Drawn on a background of its own, so that it can be
// read on a light and on a dark page alike; a viewer that prefers dark gets dark.

const width = 860
const nameWidth = 210
const figureWidth = 230
const barHeight = 18
const rowHeight = 28
const top = 96

/** The CPU of a record in each service, for each load, beside the naive price; and how many records were stored a second. */
export const plotOf = (results: Results): string => {
  const { at, machine, commit, workloads: loads } = results
  const naive = naivePrice(results) ?? Number.NaN
  // An interaction is a request of its own and costs as much as hundreds of uploaded records: its bar shows only how
  // the services share that, and its figure how much it is.
  const uploads = loads.filter(({ type }) => type !== 'interactions')
  const longest = Math.max(naive, ...uploads.map((each) => cpuOf(each, ...services)))
  const toX = (micros: number) => nameWidth + (micros / longest) * (width - nameWidth - figureWidth)
  const height = top + loads.length * rowHeight + 56
  const naiveX = toX(naive).toFixed(1)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>CPU microseconds a record, by load and service</title>`,
    `<style>${style}</style>`,
    `<rect class="page" width="${width}" height="${height}" rx="8"/>`,
    text(20, 32, 'CPU µs a record, by load and service', 'strong'),
    ...services.flatMap((name, i) => [
      `<rect class="${name}" x="${20 + i * 110}" y="50" width="14" height="14" rx="2"/>`,
      text(40 + i * 110, 62, name),
    ]),
    text(width - 20, 62, 'sum, × naive, records stored a second', 'right quiet'),
    ...loads.flatMap((each, i) => rowOf(each, top + i * rowHeight, { toX, longest, naive })),
    `<line class="naive" x1="${naiveX}" x2="${naiveX}" y1="${top - 8}" y2="${top + loads.length * rowHeight}"/>`,
    text(Number(naiveX) + 6, top + loads.length * rowHeight + 6, `naive: ${naive.toFixed(1)} µs`, 'quiet'),
    text(
      20,
      height - 16,
      `${at.slice(0, 10)}, ${machine.cores} cores; ${surroundingsOf(results)}; commit ${commit}`,
      'quiet',
    ),
    '</svg>\n',
  ].join('\n')
}

type Scale = { toX: (micros: number) => number; longest: number; naive: number }

const rowOf = (each: Measured, y: number, { toX, longest, naive }: Scale): string[] => {
  const shrunk = Math.min(1, longest / cpuOf(each, ...services))
  let from = 0
  const bars = services.map((name) => {
    const [x, end] = [toX(from * shrunk), toX((from + cpuOf(each, name)) * shrunk)]
    from += cpuOf(each, name)
    return `<rect class="${name}" x="${x.toFixed(1)}" y="${y}" width="${(end - x).toFixed(1)}" height="${barHeight}"/>`
  })
  const figures = `${from.toFixed(1)} µs, ${(from / naive).toFixed(1)} ×, ${count(each.storedPerSecond)}/s`
  return [text(20, y + 14, each.name), ...bars, text(width - 20, y + 14, figures, 'right')]
}

const text = (x: number, y: number, words: string, kind = ''): string =>
  `<text x="${x}" y="${y}"${kind && ` class="${kind}"`}>${words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`

const style = `
text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2328 }
.page { fill: #ffffff; stroke: #d1d9e0 }
.strong { font-size: 16px; font-weight: 600 }
.quiet { fill: #59636e }
.right { text-anchor: end; font-variant-numeric: tabular-nums }
.edge { fill: #0969da }
.integrity { fill: #bf8700 }
.sink { fill: #1a7f37 }
.naive { stroke: #cf222e; stroke-width: 1.5; stroke-dasharray: 5 4 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .page { fill: #0d1117; stroke: #3d444d }
  .quiet { fill: #9198a1 }
  .edge { fill: #4493f8 }
  .integrity { fill: #d29922 }
  .sink { fill: #3fb950 }
  .naive { stroke: #f85149 }
}
`
