import { count, day, id, idOrNull, type Mart, money, org, share, word, wordOrNull } from './mart.js'
import { byDay } from './parts.js'
import { purchases } from './sources.js'

export const salesByDay: Mart = {
  name: 'sales_by_day',
  kept: { parts: byDay },
  about: 'What was sold, where, and through what.',
  grain: 'a day, shop, region, branch and source with at least one transaction',
  from: ['transactions'],
  columns: {
    org_id: org,
    day: day('the day of the transactions, in UTC: of when they were created, or else accepted'),
    shop_id: id('the shop'),
    region: word('the 2-letter country code of the transactions'),
    branch_id: idOrNull('the branch, null where the transactions name none'),
    source: wordOrNull(
      'where the transactions come from, for example online or in-store; null where they do not say it',
    ),
    transactions: count('how many transactions'),
    amount: money('how much was paid'),
    savings: money('how much less was paid than without discounts'),
    customers: count('how many different students bought; transactions without a student_id do not count'),
  },
  sql: (from) => `select org_id, day, shop_id, region, branch_id, source,
  count() as transactions,
  ifNull(sum(amount_exact), 0) as amount,
  ifNull(sum(savings_exact), 0) as savings,
  uniqExact(student_id) as customers
from ${purchases(from)}
group by org_id, day, shop_id, region, branch_id, source`,
}

export const cohorts: Mart = {
  name: 'cohorts',
  kept: {},
  about: 'How many customers who first bought in a month come back in the months after it.',
  grain: 'a month of first transactions, and a month from then on in which at least one of these customers bought',
  from: ['transactions'],
  columns: {
    org_id: org,
    cohort: day('the first day of the month in which these customers first bought'),
    month: count('how many months after that: 0 is the same month'),
    customers: count('how many customers first bought in the month of the cohort'),
    active: count('how many of them bought in this month'),
    retention: share('active as a share of customers'),
    transactions: count('how many transactions they made in this month'),
    amount: money('how much they paid in this month'),
  },
  sql: (from) => `select org_id, cohort, toUInt64(dateDiff('month', cohort, bought_in)) as month,
  max(active) over (partition by org_id, cohort) as customers,
  active, active / customers as retention, transactions, amount
from (
  select org_id, cohort, bought_in, uniqExact(student_id) as active, count() as transactions,
    ifNull(sum(amount_exact), 0) as amount
  from (
    select org_id, student_id, amount_exact, toDate32(toStartOfMonth(day)) as bought_in,
      min(bought_in) over (partition by org_id, student_id) as cohort
    from ${purchases(from)}
    where student_id is not null
  )
  group by org_id, cohort, bought_in
)`,
}
