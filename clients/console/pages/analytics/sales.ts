import type { VNode } from 'preact'
import { Chart } from '../../components/chart.js'
import { html } from '../../components/html.js'
import { NothingSent } from '../../components/nothing-sent.js'
import { Table } from '../../components/shown.js'
import { count, percent } from '../../components/words.js'
import { linkTo } from '../../frame/route.js'
import { Bars } from './bars.js'
import { daysOf, secondsOf, sumsByDay } from './days.js'
import { MartCard } from './mart-card.js'
import { type AnalyticsProps, type AnsweredRow, linkWith, numberOf, textOf, useMart } from './marts.js'
import { money, sumExactly } from './money.js'

/** What was sold on each day, and in all. */
export const Sales = (props: AnalyticsProps): VNode => {
  const asked = useMart(props, 'sales_by_day', { by: 'day', sum: 'amount,savings,transactions', limit: '10000' })
  const { time, region, shop } = props.chosen
  const everything = linkWith(props.query, { time: 'all', from: '', to: '', region: '', shop: '' })
  const nothing = html`<${NothingSent} title="There are no transactions in this time." />
    ${(time !== 'all' || region || shop) && html`<p><a href=${everything}>Show all time, all regions and all shops</a></p>`}`
  return html`<${MartCard} title="Sales by day" about="Money is in the unit that amounts are given in." asked=${asked} empty=${nothing}>${(
    rows: readonly AnsweredRow[],
  ) => {
    const days = daysOf(props.chosen, rows)
    const at = days.map(secondsOf)
    const sumOf = (column: string) => sumExactly(rows.map((row) => textOf(row[column])))
    const values = (column: string) => sumsByDay(days, rows, column)
    return html`
      <dl class="figures">
        <div><dt><span class="dot first"></span>paid</dt><dd>${money(sumOf('amount'))}</dd></div>
        <div><dt><span class="dot second"></span>saved</dt><dd>${money(sumOf('savings'))}</dd></div>
        <div><dt><span class="dot third"></span>transactions</dt><dd>${count(numberOf(sumOf('transactions')))}</dd></div>
      </dl>
      <div class="two">
        <${Chart} title="Paid and saved" unit="a day" kind="bars" decimals=${2} hasTable=${false} at=${at} lines=${[
          { label: 'saved', colour: 'second', values: values('savings') },
          { label: 'paid', colour: 'first', values: values('amount') },
        ]} />
        <${Chart} title="Transactions" unit="a day" kind="bars" hasTable=${false} at=${at} lines=${[{ label: 'transactions', colour: 'third', values: values('transactions') }]} />
      </div>`
  }}<//>`
}

/** The shops that sold most in the time that was chosen. */
export const TopShops = (props: AnalyticsProps): VNode => {
  const { shops, query } = props
  const asked = useMart(props, 'sales_by_day', {
    ...{ by: 'shop_id', sum: 'amount,savings,transactions', order: '-amount', limit: '10' },
  })
  return html`<${MartCard} title="Top shops" asked=${asked} isTop about="By what was paid." empty="No shop sold anything in this time.">${(
    rows: readonly AnsweredRow[],
  ) => {
    const bars = rows.map((row) => {
      const id = textOf(row.shop_id)
      const name = shops.get(id) ?? id
      return {
        ...{ key: id, label: name, value: numberOf(row.amount), words: money(textOf(row.amount)) },
        ...{ note: `${count(numberOf(row.transactions))} transactions` },
        name: html`<a href=${linkWith(query, { shop: id })}>${name}</a>`,
      }
    })
    return html`<${Bars} bars=${bars} />`
  }}<//>`
}

/** The offers that were used most. */
export const OffersUsed = (props: AnalyticsProps): VNode => {
  const asked = useMart(props, 'offers_used', { order: '-uses', limit: '10' })
  return html`<${MartCard} title="Offers used" asked=${asked} isTop about="The ten that were used most, in transactions that name them." empty="There are no offers: upload offers, and transactions that name them.">${(
    rows: readonly AnsweredRow[],
  ) =>
    html`<${Table} label="Offers used" isCards hasCsv=${false} head=${html`<th scope="col">Offer</th><th scope="col" class="number">Views</th><th scope="col" class="number">Uses</th><th scope="col" class="number">Customers</th><th scope="col" class="number">Paid</th><th scope="col" class="number">Of its shop's sales</th>`}>
    ${rows.map(
      (row) =>
        html`<tr key=${row.offer_id}><td><a href=${linkTo(['journey', 'offers', textOf(row.offer_id)])}>${textOf(row.name)}</a></td><td class="number" data-label="views">${count(numberOf(row.views))}</td><td class="number" data-label="uses">${count(numberOf(row.uses))}</td><td class="number" data-label="customers">${count(numberOf(row.customers))}</td><td class="number" data-label="paid">${money(textOf(row.amount))}</td><td class="number" data-label="of its shop's sales">${row.share_of_sales === null ? '–' : percent(numberOf(row.share_of_sales))}</td></tr>`,
    )}
  <//>`}<//>`
}
