// Made by npm run publish-schemas from the worked questions of docs/for-analysts.md: change them there.

export const examples = [
  {
    question: 'How did sales develop by week and region?',
    sql: `select toStartOfWeek(day, 1) as week, region, sum(transactions) as transactions, sum(amount) as amount,
  round(amount / transactions, 2) as basket
from sales_by_day
where org_id = 'demo'
group by week, region
order by week, region`,
  },
  {
    question: 'Which offers bring new customers?',
    sql: `select ifNull(name, 'no offer') as offer, count() as new_customers, sum(amount) as first_amount
from (
  select offer_id, amount_exact as amount
  from transactions
  where org_id = 'demo' and student_id is not null
  order by ifNull(created, accepted_at), transaction_id
  limit 1 by student_id
) as firsts
left join (select offer_id, toNullable(name) as name from offers where org_id = 'demo') as offers using (offer_id)
group by offer
order by new_customers desc, offer`,
  },
  {
    question: 'Who is at risk, and bought most?',
    sql: `select customer_id, region, recency_days, frequency, monetary, length(favourite_shops) as favourites
from customer_segments
join customers_overview using (org_id, customer_id)
where org_id = 'demo' and segment = 'at risk'
order by monetary desc
limit 20`,
  },
  {
    question: 'What did recommendations change, and how sure is that?',
    sql: `select item_type, platform, recommended, recommended_bought, others, others_bought,
  round(lift, 2) as lift, round(lift_low, 2) as low, round(lift_high, 2) as high,
  multiIf(lift is null, 'too few', lift_low > 1, 'more', lift_high < 1, 'fewer', 'cannot be told') as purchases
from recommendation_lift
where org_id = 'demo' and within_days = 7 and recommended > 0
order by recommended desc, item_type, platform`,
  },
  {
    question: 'Which shops are viewed and not bought in?',
    sql: `select name, sum(viewed) as viewed, sum(went_to_offer) as went_to_offer, sum(bought_at_all) as bought,
  round(bought / viewed, 2) as share
from funnel
join shops using (org_id, shop_id)
where org_id = 'demo'
group by shop_id, name
order by share, viewed desc
limit 20`,
  },
  {
    question: 'How many customers come back in the months after their first purchase?',
    sql: `select cohort, any(customers) as customers, maxIf(retention, month = 1) as month_1, maxIf(retention, month = 2) as month_2,
  maxIf(retention, month = 3) as month_3
from cohorts
where org_id = 'demo'
group by cohort
order by cohort`,
  },
  {
    question: 'What was refused this week, and why?',
    sql: `select type, problem.code as code, problem.field as field, count() as refused, any(problem.message) as example
from rejections
array join problems as problem
where org_id = 'demo' and rejected_at >= toStartOfWeek(now(), 1)
group by type, code, field
order by refused desc`,
  },
  {
    question: 'What did a customer look like a month ago?',
    sql: `select customer_id, before.region as region_then, ifNull(today.region, 'deleted') as region_now
from customers_as_of(at = '2026-03-01 00:00:00') as before
left join (select org_id, customer_id, toNullable(region) as region from customers) as today using (org_id, customer_id)
where org_id = 'demo' and region_now != region_then
order by customer_id`,
  },
  {
    question: 'Who came to a segment, and who left it, between two days?',
    sql: `select countIf(not earlier) as came, countIf(not later) as went, countIf(earlier and later) as stayed
from (
  select customer_id, max(moment = 1) as earlier, max(moment = 2) as later
  from (
    select customer_id, 1 as moment from segment_members(name = 'at risk', at = '2026-03-15') where org_id = 'demo'
    union all
    select customer_id, 2 as moment from segment_members(name = 'at risk', at = '2026-04-05') where org_id = 'demo'
  )
  group by customer_id
)`,
  },
  {
    question: 'How much was it to the cent?',
    sql: `select name as shop, sum(amount_exact) as exact, sum(toDecimal64(amount, 2)) as cut_off
from transactions
join shops using (org_id, shop_id)
where org_id = 'demo'
group by shop
order by shop`,
  },
]
