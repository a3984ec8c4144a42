import type { VNode } from 'preact'
import { Chart, type ChartLine } from '../../components/chart.js'
import { html } from '../../components/html.js'
import { codeWords, count, percent } from '../../components/words.js'
import { linkTo } from '../../frame/route.js'
import { Bars } from './bars.js'
import { daysOf, secondsOf, sumsByDay } from './days.js'
import { MartCard } from './mart-card.js'
import { type AnalyticsProps, type AnsweredRow, numberOf, textOf, useMart } from './marts.js'

const kinds: readonly (readonly [type: string, words: string, colour: ChartLine['colour']])[] = [
  ['PAGE_VIEW', 'pages viewed', 'first'],
  ['FILTER_CLICK', 'filters clicked', 'second'],
  ['SHARE', 'shared', 'third'],
  ['DISCOUNT_CODE', 'codes taken', 'fourth'],
]

/** What people did on each day. */
export const Interactions = (props: AnalyticsProps): VNode => {
  const asked = useMart(props, 'interactions_by_day', {
    ...{ by: 'day,interaction_type', sum: 'interactions,recommended', limit: '10000' },
  })
  return html`<${MartCard} title="Interactions by day" asked=${asked} empty="There are no interactions in this time: choose a longer one, or record some with POST /user-interactions.">${(
    rows: readonly AnsweredRow[],
  ) => {
    const days = daysOf(props.chosen, rows)
    const lines = kinds.flatMap(([type, label, colour]): ChartLine[] => {
      const own = rows.filter((row) => row.interaction_type === type)
      return own.length > 0 ? [{ label, colour, values: sumsByDay(days, own, 'interactions') }] : []
    })
    return html`<${Chart} title="Interactions" unit="a day" kind="bars" hasTable=${false} at=${days.map(secondsOf)} lines=${lines} />`
  }}<//>`
}

const steps: readonly (readonly [column: string, words: string])[] = [
  ['viewed', 'viewed a shop'],
  ['went_to_offer', 'went on to one of its offers'],
  ['bought', 'bought there after that'],
]

/** How many of those who view a shop go on, step by step. */
export const Funnel = (props: AnalyticsProps): VNode => {
  const asked = useMart(props, 'funnel', { sum: 'viewed,went_to_offer,bought,bought_at_all' })
  return html`<${MartCard} title="From view to purchase" asked=${asked} isEmpty=${(rows: readonly AnsweredRow[]) => numberOf(rows[0]?.viewed) === 0} about="Each step within 30 days of the one before. Somebody who views two shops, or one shop on two days, counts twice." empty="Nobody viewed a shop in this time: choose a longer one, or record PAGE_VIEW interactions with shops.">${(
    rows: readonly AnsweredRow[],
  ) => {
    const [row = {}] = rows
    const viewed = numberOf(row.viewed)
    const bars = steps.map(([column, name]) => {
      const value = numberOf(row[column])
      const note = column === 'viewed' ? '' : `${percent(value / viewed)} of those who viewed`
      return { key: column, label: name, name, value, words: count(value), note }
    })
    const atAll = numberOf(row.bought_at_all)
    return html`<${Bars} bars=${bars} most=${viewed} />
      <p class="soft small">With or without an offer between, ${count(atAll)} bought within 30 days: ${percent(atAll / viewed)}.</p>`
  }}<//>`
}

/** What was refused on each day, and why. */
export const Refusals = (props: AnalyticsProps): VNode => {
  const asked = useMart(props, 'refusals_by_day', { by: 'day,code', sum: 'refused', limit: '10000' })
  return html`<${MartCard} title="Refusals by day" asked=${asked} about="A record with several problems counts at each." empty="Nothing was refused in this time.">${(
    rows: readonly AnsweredRow[],
  ) => {
    const days = daysOf(props.chosen, rows)
    const codes = new Map<string, number>()
    for (const row of rows) codes.set(textOf(row.code), (codes.get(textOf(row.code)) ?? 0) + numberOf(row.refused))
    const bars = [...codes]
      .sort(([, a], [, b]) => b - a)
      .slice(0, 5)
      .map(([code, number]) => ({
        ...{ key: code, label: codeWords(code), value: number, words: count(number) },
        name: html`<a href=${linkTo(['rejected', 'group'], { code, state: 'all' })}>${codeWords(code)}</a>`,
      }))
    return html`<${Chart} title="Refused" unit="problems a day" kind="bars" height=${180} hasTable=${false} at=${days.map(secondsOf)} lines=${[{ label: 'refused', colour: 'refused', values: sumsByDay(days, rows, 'refused') }]} />
      <${Bars} bars=${bars} isRefused />`
  }}<//>`
}
