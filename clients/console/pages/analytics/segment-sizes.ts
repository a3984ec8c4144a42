import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { AnswerTo } from '../../../typescript/src/endpoints.js'
import { useSession } from '../../api/session.js'
import { Chart } from '../../components/chart.js'
import { html } from '../../components/html.js'
import { Choose } from '../../components/shown.js'
import { count } from '../../components/words.js'
import { choiceIn } from '../../frame/route.js'
import { daysOf, secondsOf } from './days.js'
import { MartCard, saveRows } from './mart-card.js'
import { type AnalyticsProps, type AnsweredRow, choose, numberOf, textOf, useMart } from './marts.js'

/** How a segment grew or shrank, with who is in it as a file. */
export const SegmentSizes = (props: AnalyticsProps): VNode => {
  const asked = useMart(props, 'segment_sizes', { by: 'day,segment', sum: 'members', limit: '10000' })
  const own = useMart(props, 'own_segments', {})
  const conditions = new Map(own.answer?.rows.map((row) => [textOf(row.segment), textOf(row.condition)]))
  return html`<${MartCard} title="Segments over time" asked=${asked} about="Counted once a day. Segments of your own are made with weir segments create." empty="Segments were not counted in this time yet: the first count comes some minutes after the first customers.">${(
    rows: readonly AnsweredRow[],
  ) => html`<${OneSegment} rows=${rows} conditions=${conditions} ...${props} />`}<//>`
}

type OneSegmentProps = AnalyticsProps & { rows: readonly AnsweredRow[]; conditions: ReadonlyMap<string, string> }

const OneSegment = ({ rows, conditions, chosen, query }: OneSegmentProps): VNode => {
  const names = [...new Set(rows.map((row) => textOf(row.segment)))].sort()
  const segment = choiceIn(query, 'segment', names, names[0] ?? '')
  const members = new Map(
    rows.filter((row) => row.segment === segment).map((row) => [textOf(row.day), numberOf(row.members)]),
  )
  const days = daysOf(chosen, rows)
  // A day on which it was not counted is no day on which nobody was in it.
  const values = days.map((day) => members.get(day) ?? null)
  const condition = conditions.get(segment)
  return html`<div class="row">
      <${Choose} label="Segment" value=${segment} options=${names.map((name) => [name, name])} onChange=${(name: string) => choose(query, { segment: name })} />
      <${Members} key=${segment} segment=${segment} />
    </div>
    ${condition && html`<p class="small">Who is in it: <code>${condition}</code></p>`}
    <${Chart} title="In it, day by day" unit="customers" kind="bars" hasTable=${false} at=${days.map(secondsOf)} lines=${[{ label: segment, colour: 'first', values }]} />`
}

const Members = ({ segment }: { segment: string }): VNode => {
  const { ask } = useSession()
  const [said, setSaid] = useState('')
  const download = async (): Promise<void> => {
    setSaid('Loading…')
    try {
      const asked = new URLSearchParams({ name: segment, at: new Date().toISOString(), limit: '10000' })
      const answer: AnswerTo<'GET /v1/marts/{mart}'> = await ask(`/v1/marts/segment_members?${asked}`)
      if (answer.rows.length > 0) saveRows(`${segment}.csv`, answer)
      const more = answer.truncated ? 'The first 10,000; weir export segment_members gives all of them.' : undefined
      setSaid(more ?? (answer.rows.length > 0 ? `${count(answer.rows.length)} customers.` : 'Nobody is in it now.'))
    } catch (error) {
      setSaid((error as Error).message)
    }
  }
  return html`<button class="link small" type="button" onClick=${download}>Download who is in it now</button>
    <span class="soft small" role="status">${said}</span>`
}
