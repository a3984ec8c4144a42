import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startBrowser } from '../../console/browser.js'

// A dashboard as Grafana would lay it out, drawn without Grafana: for people who want to see what the queries show.

export type Series = { name: string; points: [number, number][] }
type GrafanaPanel = {
  title: string
  description: string
  type: string
  gridPos: Record<'x' | 'y' | 'w' | 'h', number>
  fieldConfig: { defaults: { unit: string } }
}

const [column, row] = [60, 30]
const colours = ['#3274d9', '#e0752d', '#3f9142', '#a352cc', '#c4162a', '#8f8f1f', '#1f8f8f', '#777']

/** A page with every panel at its place. */
export const drawDashboard = async (
  folder: string,
  dashboard: { uid: string; title: string; panels: GrafanaPanel[] },
  seriesOf: (title: string) => readonly Series[],
): Promise<string> => {
  const boxes = dashboard.panels.map((panel) => toBox(panel, seriesOf(panel.title)))
  const height = Math.max(...dashboard.panels.map(({ gridPos: { y, h } }) => (y + h) * row))
  const html = `<!doctype html><meta charset="utf-8"><title>${dashboard.title}</title>
<style>body{margin:0;font:12px sans-serif;background:#fff}div{position:absolute;box-sizing:border-box;border:3px solid #fff;outline:1px solid #ddd;outline-offset:-3px;padding:6px;overflow:hidden}b{display:block}p{margin:2px 0;color:#666;font-size:10px}big{font-size:22px;color:#3f9142}span{margin-right:8px}</style>
${boxes.join('\n')}`
  writeFileSync(join(folder, `${dashboard.uid}.html`), html)
  const browser = await startBrowser()
  const page = await browser.newPage({ viewport: { width: 24 * column, height } })
  await page.setContent(html)
  const picture = join(folder, `${dashboard.uid}.png`)
  await page.screenshot({ path: picture })
  await browser.close()
  return picture
}

const toHtml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const toBox = ({ title, description, type, gridPos, fieldConfig }: GrafanaPanel, series: readonly Series[]): string => {
  const [width, height] = [gridPos.w * column, gridPos.h * row]
  const place = `left:${gridPos.x * column}px;top:${gridPos.y * row}px;width:${width}px;height:${height}px`
  const { unit } = fieldConfig.defaults
  const last = ({ name, points }: Series) => `${name} ${toValue(points.at(-1)?.[1] ?? Number.NaN, unit)}`
  const inside =
    type === 'timeseries'
      ? `${toLines(series, width - 12, height - 60, unit)}${series.map((one, n) => `<span style="color:${colours[n % colours.length]}">${toHtml(one.name)}</span>`).join('')}`
      : type === 'stat'
        ? `<big>${series.map((one) => toHtml(last(one))).join('<br>') || 'no data'}</big>`
        : series
            .slice(0, 10)
            .map((one) => `<p>${toHtml(last(one))}</p>`)
            .join('')
  const about = type === 'stat' ? '' : `<p>${toHtml(description)}</p>`
  return `<div style="${place}" title="${toHtml(description)}"><b>${toHtml(title)}</b>${about}${inside}</div>`
}

const toLines = (series: readonly Series[], width: number, height: number, unit: string): string => {
  const values = series.flatMap(({ points }) => points.map(([, value]) => value)).filter(Number.isFinite)
  if (values.length === 0) return '<p>no data</p>'
  const times = series.flatMap(({ points }) => points.map(([time]) => time))
  const [from, until, most] = [Math.min(...times), Math.max(...times), Math.max(...values, 1e-9)]
  const paths = series.map(({ points }, n) => {
    const places = points
      .filter(([, value]) => Number.isFinite(value))
      .map(
        ([time, value]) => `${((time - from) / Math.max(1, until - from)) * width},${height - (value / most) * height}`,
      )
    return `<polyline fill="none" stroke="${colours[n % colours.length]}" stroke-width="1.5" points="${places.join(' ')}"/>`
  })
  return `<svg width="${width}" height="${height}"><text x="0" y="10" font-size="10" fill="#999">${toValue(most, unit)}</text>${paths.join('')}</svg>`
}

const toValue = (value: number, unit: string): string => {
  if (!Number.isFinite(value)) return '–'
  if (unit === 'percentunit') return `${(value * 100).toFixed(1)} %`
  if (unit === 'bytes') return `${(value / 1e6).toFixed(1)} MB`
  if (unit === 's' && value < 0.001) return `${(value * 1e6).toFixed(0)} µs`
  if (unit === 's' && value < 1) return `${(value * 1e3).toFixed(1)} ms`
  return `${value.toPrecision(3)}${unit === 's' ? ' s' : ''}`
}
