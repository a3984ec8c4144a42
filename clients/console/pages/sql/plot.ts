import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Chart } from '../../components/chart.js'
import { html } from '../../components/html.js'
import { Choose } from '../../components/shown.js'
import { Bars } from '../analytics/bars.js'
import { isDay, mostBars, plotOf, plottable } from './plotted.js'
import type { SqlAnswer } from './run.js'

/** The rows as lines or bars along a column that one chooses. */
export const Plot = ({ answer }: { answer: SqlAnswer }): VNode | null => {
  const { along, drawn } = plottable(answer)
  const [chosen, choose] = useState({ kind: 'lines', x: '', y: '' })
  const x = along.includes(chosen.x) ? chosen.x : (along[0] ?? '')
  const y = drawn.includes(chosen.y) ? chosen.y : (drawn.find((name) => name !== x) ?? '')
  if (!x || !y || answer.rows.length === 0)
    return html`<p class="soft">A plot needs rows with a column of numbers, and another one to draw it along.</p>`
  const plot = plotOf(answer, x, y)
  const isDays = answer.columns.some((column) => column.name === x && isDay(column))
  const options = (names: readonly string[]) => names.map((name) => [name, name] as const)
  return html`
    <div class="row">
      <${Choose} label="Along" value=${x} options=${options(along)} onChange=${(name: string) => choose({ ...chosen, x: name })} />
      <${Choose} label="Drawn" value=${y} options=${options(drawn)} onChange=${(name: string) => choose({ ...chosen, y: name })} />
      ${plot.kind === 'time' && isDays && html`<${Choose} label="As" value=${chosen.kind} options=${[['lines', 'a line'], ['bars', 'bars']]} onChange=${(kind: string) => choose({ ...chosen, kind })} />`}
    </div>
    ${plot.kind === 'none' && html`<p class="soft">${plot.why}</p>`}
    ${plot.kind === 'time' && html`<${Chart} title=${`${y} along ${x}`} unit=${y} at=${plot.at} kind=${isDays ? chosen.kind : 'lines'} lines=${[{ label: y, colour: 'first', values: plot.values }]} decimals=${2} hasTable=${false} />`}
    ${
      plot.kind === 'things' &&
      html`<${Bars} bars=${plot.things.map(({ name, value, words }, at) => ({ key: String(at), label: `${y} of ${name}`, name, value, words }))} />
      ${plot.left > 0 && html`<p class="soft small">The first ${mostBars} rows; ${plot.left} more are not drawn.</p>`}`
    }`
}
