// What the dashboard of the marts asks of ClickHouse. The JSON for Grafana is made from this list.
import { database } from '../../schemas/derive/names.js'
import { marts } from '../../schemas/marts/all.js'

export type MartPanel = {
  title: string
  kind: 'lines' | 'table'
  /** The mart that it shows: what that is about stands beside the panel. */
  mart: string
  /** The first column of lines is their time. */
  query: string
  /** In Grafana's own names. */
  unit?: 'short' | 'percentunit'
}

export type MartDashboard = { uid: string; title: string; about: string; panels: readonly MartPanel[] }

/** What Grafana puts in: the organisation that was chosen, and the days. */
const own = `org_id = \${org:sqlstring}`
const days = `${own} and $__dateFilter(day)`

/** Sums by day. */
const byDay = (mart: string, sums: string, where = days, by = ''): string =>
  `select toDateTime(day) as time, ${by && `${by}, `}${sums} from ${database}.${mart} where ${where} group by day${by && `, ${by}`} order by day${by && `, ${by}`}`

const top = (mart: string, columns: string, order: string): string =>
  `select ${columns} from ${database}.${mart} where ${own} order by ${order} desc limit 20`

export const martDashboard: MartDashboard = {
  uid: 'weir-marts',
  title: 'Weir: what is sold, to whom, and why',
  about: 'The marts of one organisation. Days are those of UTC.',
  panels: [
    {
      ...{ title: 'Paid and saved a day', kind: 'lines', mart: 'sales_by_day' },
      query: byDay('sales_by_day', 'sum(amount) as paid, sum(savings) as saved'),
    },
    {
      ...{ title: 'Transactions a day', kind: 'lines', mart: 'sales_by_day' },
      query: byDay('sales_by_day', 'sum(transactions) as transactions'),
    },
    {
      ...{ title: 'Paid a day by region', kind: 'lines', mart: 'sales_by_day' },
      query: byDay('sales_by_day', 'sum(amount) as paid', days, 'region'),
    },
    {
      ...{ title: 'Top shops', kind: 'table', mart: 'shops_overview' },
      query: top('shops_overview', 'name, region, transactions, amount, savings, customers', 'amount'),
    },
    {
      ...{ title: 'Offers used most', kind: 'table', mart: 'offers_used' },
      query: top('offers_used', 'name, views, uses, customers, amount, savings, share_of_sales', 'uses'),
    },
    {
      ...{ title: 'Segments over time', kind: 'lines', mart: 'segment_sizes' },
      query: byDay('segment_sizes', 'sum(members) as customers', days, 'segment'),
    },
    {
      ...{ title: 'Who comes back', kind: 'table', mart: 'cohorts', unit: 'percentunit' },
      query: `select cohort, any(customers) as customers, ${[1, 2, 3, 6, 12].map((month) => `maxIf(retention, month = ${month}) as month_${month}`).join(', ')} from ${database}.cohorts where ${own} group by cohort order by cohort desc limit 24`,
    },
    {
      ...{ title: 'What recommendations change, within 7 days', kind: 'table', mart: 'recommendation_lift' },
      query: `select item_type, platform, country, recommended, recommended_share, others, others_share, lift, lift_low, lift_high from ${database}.recommendation_lift where ${own} and within_days = 7 order by recommended desc limit 50`,
    },
    {
      ...{ title: 'Interactions a day', kind: 'lines', mart: 'interactions_by_day' },
      query: byDay('interactions_by_day', 'sum(interactions) as interactions', days, 'interaction_type'),
    },
    {
      ...{ title: 'From view to purchase', kind: 'lines', mart: 'funnel' },
      query: byDay('funnel', 'sum(viewed) as viewed, sum(went_to_offer) as went_to_offer, sum(bought) as bought'),
    },
    {
      ...{ title: 'Customers by what they are', kind: 'table', mart: 'customers_by_attribute' },
      query: top('customers_by_attribute', 'attribute, value, customers, buyers, transactions, amount', 'customers'),
    },
    {
      ...{ title: 'Refused a day', kind: 'lines', mart: 'refusals_by_day' },
      query: byDay('refusals_by_day', 'sum(refused) as refused', days, 'code'),
    },
  ],
}

/** The organisations that there is something to see of; an analyst has one. */
export const organisationsQuery = `select distinct org_id from ${database}.shops_overview order by org_id`

export const aboutMart = (name: string): string => marts.find((mart) => mart.name === name)?.about ?? ''
