// What analysts ask of the marts, each as they would ask it.

export type Question = {
  name: string
  /** The mart that it reads. */
  mart: string
  /** With `{mart}` where the mart stands. */
  sql: string
}

export const questions: readonly Question[] = [
  {
    name: 'sales by month',
    mart: 'sales_by_day',
    sql: 'select toStartOfMonth(day) as month, sum(amount) from {mart} group by month order by month',
  },
  {
    name: "a shop's sales by day",
    mart: 'sales_by_day',
    sql: 'select day, sum(amount) from {mart} where shop_id = {shop} group by day order by day',
  },
  { name: 'top shops', mart: 'shops_overview', sql: 'select name, amount from {mart} order by amount desc limit 10' },
  {
    name: 'offers used most',
    mart: 'offers_used',
    sql: 'select name, uses, share_of_sales from {mart} order by uses desc limit 10',
  },
  {
    name: 'customers, summed',
    mart: 'customers_overview',
    sql: 'select count(), sum(amount), countIf(transactions = 0) from {mart}',
  },
  { name: 'one customer', mart: 'customers_overview', sql: 'select * from {mart} where customer_id = {customer}' },
  {
    name: 'customers by attribute',
    mart: 'customers_by_attribute',
    sql: 'select * from {mart} order by customers desc limit 50',
  },
  {
    name: 'segments and their sizes',
    mart: 'customer_segments',
    sql: 'select segment, count(), sum(monetary) from {mart} group by segment',
  },
  { name: 'cohorts', mart: 'cohorts', sql: 'select * from {mart} order by cohort, month' },
  {
    name: 'recommendations by item',
    mart: 'recommendations',
    sql: 'select item_type, source, sum(interactions), sum(bought_7d) from {mart} group by item_type, source',
  },
  {
    name: 'lift of recommendations',
    mart: 'recommendation_lift',
    sql: 'select * from {mart} order by item_type, within_days',
  },
  {
    name: 'interactions by month',
    mart: 'interactions_by_day',
    sql: 'select toStartOfMonth(day) as month, sum(interactions) from {mart} group by month order by month',
  },
  {
    name: 'funnel by month',
    mart: 'funnel',
    sql: 'select toStartOfMonth(day) as month, sum(viewed), sum(bought) from {mart} group by month order by month',
  },
]
