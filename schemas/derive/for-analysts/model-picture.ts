import type { Catalogue } from '../../catalogue.js'
import { marts } from '../../marts/all.js'
import { viewOf } from '../names.js'
import { linksOf, type ModelLink } from './model-links.js'

// docs/model.svg: above, the types as boxes with lines to the types that they refer to; below, which types each mart comes from.
// Drawn on a background of its own; a viewer that prefers dark gets dark.

const width = 980
const margin = 24
const boxWidth = 200
const lineHeight = 19
const titleHeight = 28
const gap = 16
const top = 92

type Box = { type: string; links: ModelLink[]; column: number; x: number; y: number; height: number }

export const modelPicture = (catalogue: Catalogue): string => {
  const boxes = boxesOf(catalogue)
  const bottom = Math.max(...boxes.map(({ y, height }) => y + height))
  const types = [...catalogue.all.keys()]
  const tableTop = bottom + 170
  const height = tableTop + marts.length * rowHeight + margin
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    '<title>Which tables refer to which, and which marts come from which tables</title>',
    `<style>${style}</style>`,
    `<rect class="page" width="${width}" height="${height}" rx="8"/>`,
    text(margin, 34, 'Which tables refer to which', 'strong'),
    `<path class="checked" d="M${margin} 56h34"/>`,
    text(margin + 44, 60, 'a reference: what it names exists'),
    `<path class="loose" d="M${margin + 290} 56h34"/>`,
    text(margin + 334, 60, 'an id: what it names may be missing'),
    ...boxes.flatMap((box) => linesFrom(box, boxes)),
    ...boxes.flatMap(drawBox),
    text(margin, bottom + 54, 'Which tables each mart comes from', 'strong'),
    ...types.map((type, at) => turned(columnX(at, types.length), tableTop - 12, viewOf(type))),
    ...marts.flatMap(({ name, from }, row) => {
      const y = tableTop + row * rowHeight
      const dots = types.flatMap((type, at) =>
        from.includes(type) ? [`<circle class="dot" cx="${columnX(at, types.length)}" cy="${y + 9}" r="5"/>`] : [],
      )
      const stripe =
        row % 2 === 0
          ? [`<rect class="stripe" x="${margin}" y="${y - 2}" width="${width - 2 * margin}" height="${rowHeight}"/>`]
          : []
      const none = from.length === 0 ? [text(columnX(0, types.length) - 5, y + 13, 'none of these', 'quiet')] : []
      return [...stripe, text(margin + 8, y + 13, name), ...dots, ...none]
    }),
    '</svg>\n',
  ].join('\n')
}

const rowHeight = 22
const nameWidth = 220
const columnX = (at: number, count: number): number =>
  margin + nameWidth + Math.round((at * (width - 2 * margin - nameWidth - 40)) / (count - 1))

/** Types stand to the right of those that they lead to, and near their height. */
const boxesOf = (catalogue: Catalogue): Box[] => {
  const placed = new Map<string, Box>()
  for (const type of catalogue.all.values()) {
    const links = linksOf(type, catalogue)
    const left = links.flatMap(({ to }) => placed.get(to)?.column ?? [])
    const column = Math.max(-1, ...left) + 1
    const fields = new Set(links.map(({ field }) => field))
    const height = titleHeight + fields.size * lineHeight + (fields.size > 0 ? 6 : 0)
    placed.set(type.type, { type: type.type, links, column, x: 0, y: 0, height })
  }
  const boxes = [...placed.values()]
  const columns = [...new Set(boxes.map(({ column }) => column))].sort((a, b) => a - b)
  const between = columns.length > 1 ? (width - 2 * margin - boxWidth) / (columns.length - 1) : 0
  const tallest = Math.max(...columns.map((column) => heightOf(boxes.filter((box) => box.column === column))))
  for (const column of columns) {
    const own = boxes.filter((box) => box.column === column)
    const wished = new Map(own.map((box) => [box, mean(box.links.flatMap(({ to }) => middleOf(placed.get(to))))]))
    if (column > 0) own.sort((a, b) => (wished.get(a) ?? 0) - (wished.get(b) ?? 0))
    // What a column has less than the tallest one is spread between its boxes.
    const spread = (tallest - heightOf(own)) / (own.length + 1)
    let y = top + spread
    for (const box of own) {
      Object.assign(box, { x: Math.round(margin + column * between), y: Math.round(y) })
      y += box.height + gap + spread
    }
  }
  return boxes
}

const heightOf = (boxes: readonly Box[]): number => boxes.reduce((sum, { height }) => sum + height + gap, -gap)
const middleOf = (box: Box | undefined): number[] => (box ? [box.y + box.height / 2] : [])
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / (values.length || 1)

const fieldsOf = ({ links }: Box): string[] => [...new Set(links.map(({ field }) => field))]
const lineOf = (box: Box, field: string): number =>
  box.y + titleHeight + fieldsOf(box).indexOf(field) * lineHeight + lineHeight / 2

const linesFrom = (box: Box, boxes: readonly Box[]): string[] =>
  box.links.flatMap(({ field, to, isChecked }) => {
    const target = boxes.find(({ type }) => type === to)
    if (!target) return []
    const start: Point = [box.x, lineOf(box, field)]
    const end: Point = [target.x + boxWidth, target.y + titleHeight / 2]
    const path = [start, ...waysThrough(box, target, boxes), end]
    const curves = path.slice(1).map((point, at) => curve(path[at] ?? start, point))
    return [`<path class="${isChecked ? 'checked' : 'loose'}" d="M${start.join(' ')}${curves.join('')}"/>`]
  })

type Point = [number, number]

/**
 * A line passes the columns between two boxes where there is room between their boxes, not behind one. Lines to different boxes lie a
 * little apart there, so that each can be followed.
 */
const waysThrough = (from: Box, to: Box, boxes: readonly Box[]): Point[] => {
  const columns = Array.from({ length: Math.max(0, from.column - to.column - 1) }, (_, at) => from.column - 1 - at)
  return columns.flatMap((column): Point[] => {
    const between = boxes.filter((box) => box.column === column).sort((a, b) => a.y - b.y)
    const rooms = between.map(({ y }) => y - gap / 2)
    const straight = (from.y + to.y + titleHeight) / 2
    const room = rooms.reduce((best, each) => (Math.abs(each - straight) < Math.abs(best - straight) ? each : best))
    const apart = boxes.filter((box) => box.column === to.column).indexOf(to) % 4
    const y = room + (apart - 1.5) * (gap / 5)
    const x = between[0]?.x ?? 0
    return [
      [x + boxWidth, y],
      [x, y],
    ]
  })
}

const curve = ([x, y]: Point, [toX, toY]: Point): string => {
  const bend = (x - toX) / 2
  return y === toY ? `L${toX} ${toY}` : `C${x - bend} ${y} ${toX + bend} ${toY} ${toX} ${toY}`
}

const drawBox = (box: Box): string[] => [
  `<rect class="box" x="${box.x}" y="${box.y}" width="${boxWidth}" height="${box.height}" rx="5"/>`,
  text(box.x + 12, box.y + 19, viewOf(box.type), 'name'),
  ...fieldsOf(box).map((field) => text(box.x + 12, lineOf(box, field) + 4, field, 'quiet')),
]

const text = (x: number, y: number, words: string, kind = ''): string =>
  `<text x="${x}" y="${y}"${kind && ` class="${kind}"`}>${words}</text>`
const turned = (x: number, y: number, words: string): string =>
  `<text x="${x}" y="${y}" transform="rotate(-40 ${x} ${y})">${words}</text>`

const style = `
text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2328 }
.page { fill: #ffffff; stroke: #d1d9e0 }
.box { fill: #f6f8fa; stroke: #818b98 }
.stripe { fill: #f6f8fa }
.strong { font-size: 16px; font-weight: 600 }
.name { font-weight: 600 }
.quiet { fill: #59636e }
.checked { fill: none; stroke: #0969da; stroke-width: 1.5 }
.loose { fill: none; stroke: #9a6700; stroke-width: 1.5; stroke-dasharray: 5 4 }
.dot { fill: #0969da }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .page { fill: #0d1117; stroke: #3d444d }
  .box { fill: #151b23; stroke: #656c76 }
  .stripe { fill: #151b23 }
  .quiet { fill: #9198a1 }
  .checked { stroke: #4493f8 }
  .loose { stroke: #d29922 }
  .dot { fill: #4493f8 }
}
`
