import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { html } from './html.js'
import { shownZone, zoneWords } from './time-zone.js'
import { count, moment, timeOfDay } from './words.js'

/** A line of a chart. `colour` names one of the variables of style/base.css, so that a thing has one colour everywhere. */
export type ChartLine = {
  label: string
  colour: 'accepted' | 'refused' | 'waiting' | 'interactions' | 'received' | 'first' | 'second' | 'third' | 'fourth'
  values: readonly (number | null)[]
  /** Of bars: the whole, which the others are parts of. */
  isTotal?: boolean
}

type ChartProps = {
  title: string
  /** What the numbers are, beside the axis: `records a second`. */
  unit: string
  /** Seconds since 1970. */
  at: readonly number[]
  lines: readonly ChartLine[]
  /** Bars for days, one upon the other; lines for what goes on all the time. */
  kind?: 'lines' | 'bars'
  height?: number
  /** How many decimals a number has that is not whole. */
  decimals?: number
  /** Whether the same figures stand in a table below; not where the page has one of its own. */
  hasTable?: boolean
}

/** A chart with axes, units and values to hover over; the same figures are there as a table, for people who cannot see it. */
export const Chart = (props: ChartProps): VNode => {
  const { title, unit, at, lines, kind = 'lines', height = 240, decimals = 1, hasTable = true } = props
  const figure = figureWith(decimals)
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const [isDark, setDark] = useState(() => darkness.matches)
  const [isZoomed, setZoomed] = useState(false)
  const drawn = lines.map(({ values, isTotal }, index) =>
    kind === 'lines' || isTotal ? values : at.map((_, place) => sumFrom(lines, index, place)),
  )
  const data = [at, ...drawn] as unknown as uPlot.AlignedData

  useEffect(() => {
    const change = () => setDark(darkness.matches)
    darkness.addEventListener('change', change)
    return () => darkness.removeEventListener('change', change)
  }, [])

  const isDays = kind === 'bars'
  // Beyond half a day the time alone does not say when it was.
  const isLong = (at.at(-1) ?? 0) - (at[0] ?? 0) > 43_200
  const shape = `${kind} ${height} ${isDark} ${unit} ${shownZone()} ${isLong} ${lines.map(({ label, colour }) => label + colour).join()}`
  useEffect(() => {
    const element = place.current
    if (!element) return
    const made = new uPlot(
      optionsOf({ unit, lines, kind, isLong, onZoom: setZoomed, height, figure, width: element.clientWidth }),
      data,
      element,
    )
    plot.current = made
    const watch = new ResizeObserver(() => {
      if (element.clientWidth > 0 && element.clientWidth !== made.width)
        made.setSize({ width: element.clientWidth, height })
    })
    watch.observe(element)
    return () => {
      watch.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [shape])
  useEffect(() => {
    plot.current?.setData(data, !isZoomed)
    if (isZoomed) plot.current?.redraw()
  })
  const showAll = () => {
    setZoomed(false)
    plot.current?.setData(data)
  }

  const sums = lines.map(
    ({ label, values }) => `${label} ${figure(values.reduce((sum: number, value) => sum + (value ?? 0), 0))}`,
  )
  return html`
    <figure class="chart">
      <figcaption><strong>${title}</strong> <span class="soft small">${unit}${!isDays && `, times in ${zoneWords()}`}</span>
        ${isZoomed && html`<button type="button" onClick=${showAll}>Show the whole time</button>`}</figcaption>
      <div ref=${place} role="img" aria-label=${`${title}, ${unit}. In all: ${sums.join(', ')}.`}></div>
      ${
        hasTable &&
        html`<details>
          <summary>The same as a table</summary>
          <div class="table" role="region" aria-label=${`${title} as a table`} tabindex="0"><table>
            <thead><tr><th scope="col">${isDays ? 'day' : 'time'}</th>${lines.map(({ label }) => html`<th scope="col" class="number">${label}</th>`)}</tr></thead>
            <tbody>${rowsOf(at, lines).map(([time, ...values]) => html`<tr key=${time}><td class="nowrap">${timeWords(time ?? 0, isDays, isLong)}</td>${values.map((value) => html`<td class="number">${figure(value ?? 0)}</td>`)}</tr>`)}</tbody>
          </table></div>
        </details>`
      }
    </figure>`
}

/** A bar begins at 0 and is covered by those after it, so it is as high as all of them together. */
const sumFrom = (lines: readonly ChartLine[], first: number, place: number): number =>
  lines.slice(first).reduce((sum, { values }) => sum + (values[place] ?? 0), 0)

const darkness = matchMedia('(prefers-color-scheme: dark)')

// The newest first, and no more than a person reads.
const rowsOf = (at: readonly number[], lines: readonly ChartLine[]): number[][] =>
  at
    .map((time, index) => [time, ...lines.map(({ values }) => values[index] ?? 0)])
    .slice(-60)
    .reverse()

const figureWith =
  (decimals: number) =>
  (value: number): string =>
    Number.isInteger(value)
      ? count(value)
      : value.toLocaleString('en-GB', { minimumFractionDigits: decimals, maximumFractionDigits: decimals })

const timeWords = (seconds: number, isDays: boolean, isLong: boolean): string => {
  const iso = new Date(seconds * 1000).toISOString()
  if (isDays) return iso.slice(0, 10)
  return isLong ? moment(iso) : timeOfDay(seconds * 1000)
}

type PlotProps = Required<Pick<ChartProps, 'unit' | 'lines' | 'kind' | 'height'>> & {
  width: number
  isLong: boolean
  figure: (value: number) => string
  onZoom: (isZoomed: boolean) => void
}

const optionsOf = ({ unit, lines, kind, isLong, onZoom, height, figure, width }: PlotProps): uPlot.Options => {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const font = '12px system-ui, sans-serif'
  const axis = {
    stroke: colour('soft'),
    grid: { stroke: colour('line'), width: 1 },
    ticks: { stroke: colour('line') },
    font,
    labelFont: font,
  }
  const isDays = kind === 'bars'
  const bars = uPlot.paths.bars
  return {
    width,
    height,
    // Days are those of UTC, whatever the reader's own zone is.
    ...((isDays || shownZone()) && { tzDate: (stamp: number) => uPlot.tzDate(new Date(stamp * 1000), 'Etc/UTC') }),
    // The first and the last bar are as wide as the others.
    scales: {
      x: {
        time: true,
        ...(isDays && {
          range: (_: uPlot, from: number, to: number): [number, number] => [from - 43_200, to + 43_200],
        }),
      },
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        space: 70,
        values: isDays
          ? (_, ticks) => ticks.map((tick) => new Date(tick * 1000).toISOString().slice(5, 10))
          : (_, ticks) => ticks.map((tick) => tickWords(tick, isLong)),
      },
      { ...axis, size: 62, label: unit, labelSize: 18, values: (_, ticks) => ticks.map(short) },
    ],
    // Dragging over a stretch of time shows it alone; a double click, or the button, shows all.
    cursor: { points: { size: 7 }, drag: { x: !isDays, y: false } },
    hooks: {
      setSelect: [(plot) => plot.select.width > 0 && onZoom(true)],
      ready: [(plot) => plot.over.addEventListener('dblclick', () => onZoom(false))],
    },
    series: [
      { label: isDays ? 'Day' : 'Time', value: (_, time) => (time == null ? '–' : timeWords(time, isDays, isLong)) },
      ...lines.map(
        ({ label, colour: name, isTotal }): uPlot.Series => ({
          label,
          stroke: colour(name),
          fill: isDays ? colour(name) : `${colour(name)}14`,
          width: isDays ? 0 : 2,
          points: { show: false },
          ...(isDays && bars && { paths: bars({ size: [0.7, 42] }) }),
          value: (plot, value, series, place) => {
            if (value == null) return '–'
            const after = isDays && !isTotal && place != null ? plot.data[series + 1]?.[place] : 0
            return figure(value - (after ?? 0))
          },
        }),
      ),
    ],
  }
}

const tickWords = (tick: number, isLong: boolean): string => {
  const time = timeOfDay(tick * 1000, false)
  if (!isLong || time !== '00:00') return time
  return new Date(tick * 1000).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: shownZone() })
}

const short = (value: number): string =>
  value >= 1e6
    ? `${+(value / 1e6).toFixed(1)} M`
    : value >= 1e4
      ? `${+(value / 1e3).toFixed(1)} k`
      : String(+value.toFixed(2))
