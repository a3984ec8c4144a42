import type { VNode } from 'preact'
import { html } from '../../components/html.js'
import { Choose, Table } from '../../components/shown.js'
import { count } from '../../components/words.js'
import { choiceIn } from '../../frame/route.js'
import { type Lift, liftOf } from './lift.js'
import { MartCard } from './mart-card.js'
import { type AnalyticsProps, type AnsweredRow, choose, numberOf, textOf, useMart } from './marts.js'

const windows = ['1', '7', '30']

/** Whether people buy more after a recommendation than after anything else they look at, and how sure that is. */
export const Recommendations = (props: AnalyticsProps): VNode => {
  const { query } = props
  const asked = useMart(props, 'recommendation_lift', {
    ...{ by: 'item_type,within_days', sum: 'recommended,recommended_bought,others,others_bought' },
  })
  const within = choiceIn(query, 'within', windows, '7')
  const pick = html`<${Choose} label="Bought within" value=${within} options=${windows.map((days) => [days, days === '1' ? 'a day' : `${days} days`])} onChange=${(days: string) => choose(query, { within: days })} />`
  return html`<${MartCard} title="Recommendations" asked=${asked} about="How often a purchase in a shop of the item follows an interaction: after recommended ones, and after all others. The lift is how many times as often; with a probability of 95 % it lies in the range beside it." empty="There are no interactions: record some, with the source SERVICE where they come from a recommendation.">${(
    rows: readonly AnsweredRow[],
  ) => {
    const shown = rows.filter((row) => textOf(row.within_days) === within)
    return html`<div class="row">${pick}</div>
      <${Table} label="Recommendations" isCards hasCsv=${false} head=${html`<th scope="col">Item</th><th scope="col" class="number">After recommended</th><th scope="col" class="number">After others</th><th scope="col" class="number">Lift</th><th scope="col" class="number">Range</th><th scope="col">On a scale</th>`}>
      ${shown.map((row) => html`<${LiftRow} key=${row.item_type} row=${row} />`)}
    <//>`
  }}<//>`
}

const LiftRow = ({ row }: { row: AnsweredRow }): VNode => {
  const counts = {
    ...{ recommended: numberOf(row.recommended), recommended_bought: numberOf(row.recommended_bought) },
    ...{ others: numberOf(row.others), others_bought: numberOf(row.others_bought) },
  }
  const { recommendedShare, othersShare, lift } = liftOf(counts)
  return html`<tr><td class="first">${textOf(row.item_type).toLowerCase()}</td>
    <td class="number" data-label="after recommended">${shareWords(recommendedShare)} <span class="soft small">of ${count(counts.recommended)}</span></td>
    <td class="number" data-label="after others">${shareWords(othersShare)} <span class="soft small">of ${count(counts.others)}</span></td>
    <td class="number" data-label="lift">${lift ? `${lift.value.toFixed(2)} ×` : '–'}</td>
    <td class="number" data-label="range">${lift ? `${lift.low.toFixed(2)} to ${lift.high.toFixed(2)}` : html`<span class="soft">too few purchases</span>`}</td>
    <td>${lift && html`<${Range} lift=${lift} />`}</td></tr>`
}

const shareWords = (share: number | null): string => (share === null ? '–' : `${(share * 100).toFixed(1)} %`)

// From a quarter to four times as often, each doubling as wide as the other.
const width = 160
const place = (lift: number): number => Math.min(width - 4, Math.max(4, ((Math.log2(lift) + 2) / 4) * width))

/** The range of a lift as a line with a point in it; the upright line is 1, where a recommendation changes nothing. */
const Range = ({ lift }: { lift: NonNullable<Lift['lift']> }): VNode => {
  const tone = lift.low > 1 ? 'accepted' : lift.high < 1 ? 'refused' : 'unsure'
  const words = { accepted: 'more often', refused: 'less often', unsure: 'no difference that is sure' }[tone]
  return html`<span class="nowrap"><svg class=${`range ${tone}`} width=${width} height="16" aria-hidden="true">
    <line class="even" x1=${place(1)} x2=${place(1)} y1="0" y2="16" />
    <line x1=${place(lift.low)} x2=${place(lift.high)} y1="8" y2="8" />
    <circle cx=${place(lift.value)} cy="8" r="4" />
  </svg> <span class="small">${words}</span></span>`
}
