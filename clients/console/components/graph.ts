import type { VNode } from 'preact'
import { html } from './html.js'

export type GraphNode = { id: string; label: string; note?: string; href?: string; column: number; tone?: string }
export type GraphEdge = { from: string; to: string }

const width = 172
const height = 46
const gapX = 96
const gapY = 16

type GraphProps = { title: string; nodes: readonly GraphNode[]; edges: readonly GraphEdge[] }

/** Boxes in columns, joined by lines. Each box is a link, and the same is written in words for people who cannot see it. */
export const Graph = ({ title, nodes, edges }: GraphProps): VNode => {
  const places = placesOf(nodes)
  const self = nodes.find(({ tone }) => tone === 'self')?.id
  const columns = Math.max(...nodes.map(({ column }) => column)) + 1
  const rows = Math.max(...[...places.values()].map(({ y }) => y)) + height
  const full = columns * width + (columns - 1) * gapX
  return html`
    <div class="graph" role="region" aria-label=${title} tabindex="0">
      <svg width=${full + 4} height=${rows + 4} viewBox=${`-2 -2 ${full + 4} ${rows + 4}`} role="group" aria-label=${title}>
        ${edges.map(({ from, to }) => {
          const a = places.get(from)
          const b = places.get(to)
          if (!a || !b) return null
          const start = { x: a.x + width, y: a.y + height / 2 }
          const end = { x: b.x, y: b.y + height / 2 }
          const bend = Math.max(36, Math.abs(end.x - start.x) / 2)
          return html`<path key=${`${from} ${to}`} class=${from === self || to === self ? 'edge strong' : 'edge'} d=${`M${start.x} ${start.y} C${start.x + bend} ${start.y} ${end.x - bend} ${end.y} ${end.x} ${end.y}`} />`
        })}
        ${nodes.map((node) => {
          const { x, y } = places.get(node.id) ?? { x: 0, y: 0 }
          const box = html`<g class=${`node ${node.tone ?? ''}`} transform=${`translate(${x} ${y})`}>
            <title>${node.label}${node.note && `: ${node.note}`}</title>
            <rect width=${width} height=${height} rx="7" />
            <text x="12" y=${node.note ? 19 : 28} class="label">${shorten(node.label, 20)}</text>
            ${node.note && html`<text x="12" y="36" class="note">${shorten(node.note, 24)}</text>`}
          </g>`
          return node.href ? html`<a key=${node.id} href=${node.href}>${box}</a>` : box
        })}
      </svg>
    </div>`
}

const shorten = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text)

const placesOf = (nodes: readonly GraphNode[]): Map<string, { x: number; y: number }> => {
  const counts = new Map<number, number>()
  for (const { column } of nodes) counts.set(column, (counts.get(column) ?? 0) + 1)
  const tallest = Math.max(...counts.values())
  const filled = new Map<number, number>()
  return new Map(
    nodes.map(({ id, column }) => {
      const row = filled.get(column) ?? 0
      filled.set(column, row + 1)
      // Shorter columns stand in the middle.
      const offset = ((tallest - (counts.get(column) ?? 0)) * (height + gapY)) / 2
      return [id, { x: column * (width + gapX), y: offset + row * (height + gapY) }]
    }),
  )
}
