import type { VNode } from 'preact'
import { html } from '../../components/html.js'
import { Asking, Choose, PageHead, When } from '../../components/shown.js'
import type { PageProps } from '../../frame/route.js'
import { useAnswer } from '../../frame/use-answer.js'
import { Cohorts, Segments } from './customers.js'
import { Funnel, Interactions, Refusals } from './interest.js'
import {
  type AnalyticsChoice,
  type AnalyticsProps,
  choose,
  type MartAnswer,
  readChoice,
  textOf,
  times,
  useMart,
} from './marts.js'
import { Recommendations } from './recommendations.js'
import { OffersUsed, Sales, TopShops } from './sales.js'
import { SegmentSizes } from './segment-sizes.js'

/** What the records say all together: sales, customers, recommendations, what people look at, what is refused. */
export const AnalyticsPage = ({ query }: PageProps): VNode => {
  const asked = useAnswer<'/v1/marts'>('/v1/marts')
  const marts = asked.answer?.marts
  return marts
    ? html`<${Analytics} marts=${marts} query=${query} />`
    : html`<${Head} /><${Asking} ...${asked} has=${false} />`
}

const Head = ({ children }: { children?: VNode }): VNode => html`
  <${PageHead} title="Analytics" about="From the marts, which are views in ClickHouse too. Days are those of UTC.">${children}<//>`

const Analytics = ({ marts, query }: Pick<AnalyticsProps, 'marts' | 'query'>): VNode => {
  const chosen = readChoice(query, Date.now())
  // To choose from: whatever was chosen before.
  const everywhere = { ...chosen, region: '', shop: '' }
  const regions = useMart({ marts, chosen: everywhere }, 'sales_by_day', { by: 'region', order: '-rows' })
  const known = useMart({ marts, chosen: everywhere }, 'shops_overview', { order: '-amount', limit: '200' })
  const shops = new Map(known.answer?.rows.map((row) => [textOf(row.shop_id), textOf(row.name)]))
  const props: AnalyticsProps = { marts, chosen, shops, query }
  const kept = useMart({ marts, chosen: everywhere }, 'marts_as_of', { order: 'as_of', limit: '1' })
  const asOf = textOf(kept.answer?.rows[0]?.as_of)
  return html`
    <${Head}><${Filters} chosen=${chosen} query=${query} regions=${namesOf(regions, 'region')} shops=${shops} /><//>
    ${asOf && html`<p class="soft small">Of large organisations the figures are made anew after their records have changed: the oldest below are of <${When} at=${asOf} />.</p>`}
    <${Sales} ...${props} />
    <div class="two"><${TopShops} ...${props} /><${Segments} ...${props} /></div>
    <${SegmentSizes} ...${props} />
    <${OffersUsed} ...${props} />
    <${Cohorts} ...${props} />
    <${Recommendations} ...${props} />
    <${Interactions} ...${props} />
    <div class="two"><${Funnel} ...${props} /><${Refusals} ...${props} /></div>`
}

const namesOf = ({ answer }: MartAnswer, column: string): string[] =>
  (answer?.rows ?? []).map((row) => textOf(row[column])).filter(Boolean)

type FilterProps = {
  chosen: AnalyticsChoice
  query: URLSearchParams
  regions: readonly string[]
  shops: ReadonlyMap<string, string>
}

const Filters = ({ chosen, query, regions, shops }: FilterProps): VNode => {
  const { time, from, to, region, shop } = chosen
  const on = (name: string) => (value: string) => choose(query, { [name]: value })
  // Dates of one's own begin with those that are shown, so that one of them can be changed.
  const onTime = (value: string) => {
    const own = value === 'own' ? { from: from ?? '', to: to ?? '' } : { from: '', to: '' }
    choose(query, { time: value, ...own })
  }
  const day = (label: string, name: string, value: string | null) => html`
    <label class="choose">${label} <input type="date" value=${value ?? ''} onChange=${(event: Event) => on(name)((event.target as HTMLInputElement).value)} /></label>`
  return html`
    <${Choose} label="Period" value=${time} options=${times} onChange=${onTime} />
    ${time === 'own' && html`${day('From', 'from', from)}${day('To', 'to', to)}`}
    <${Choose} label="Region" value=${region} options=${[['', 'all'], ...[...new Set([...(region ? [region] : []), ...regions])].sort().map((each) => [each, each])]} onChange=${on('region')} />
    <${Choose} label="Shop" value=${shop} options=${[['', 'all'], ...[...new Map([...(shop ? [[shop, shop] as const] : []), ...shops])].sort(([, a], [, b]) => a.localeCompare(b))]} onChange=${on('shop')} />`
}
