import { count, days, type From, id, type Mart, money, org, score, word } from '../mart.js'
import { purchases } from '../sources.js'

/** The first rule that holds names the segment; r, f and m are scores from 1 (lowest) to 5. */
export const segmentRules: readonly { segment: string; rule: string; about: string }[] = [
  { segment: 'champions', rule: 'r >= 4 and f >= 4 and m >= 4', about: 'bought lately, often and for much' },
  { segment: 'loyal', rule: 'r >= 3 and f >= 4', about: 'buy often, and not long ago' },
  { segment: 'at risk', rule: 'r <= 2 and f >= 3', about: 'bought often, and not for a while' },
  { segment: 'new', rule: 'r >= 4 and f <= 2', about: 'bought lately, and only a few times' },
  { segment: 'promising', rule: 'r >= 3 and f = 3', about: 'bought not long ago, and now and then' },
  { segment: 'fading', rule: 'r >= 2', about: 'bought a few times, a while ago' },
  { segment: 'lost', rule: 'true', about: 'bought a few times, long ago' },
]

const segmentOf = `multiIf(${segmentRules
  .slice(0, -1)
  .map(({ segment, rule }) => `${rule}, '${segment}'`)
  .join(', ')}, '${segmentRules.at(-1)?.segment}')`

/** A fifth of the organisation's customers has each score, those with the same value the same one. */
const scoreBy = (order: string): string =>
  `toUInt8(1 + intDiv(5 * (rank() over (partition by org_id order by ${order}) - 1), count() over (partition by org_id)))`

/** Each customer who has bought, with recency, frequency and monetary value at a moment. */
const bought = (from: From, at: string): string => `(
  select org_id, customer_id, sold.last_bought_at as last_bought_at, sold.frequency as frequency, sold.monetary as monetary
  from ${from('customers')} as customers
  join (
    select org_id, assumeNotNull(student_id) as customer_id, max(bought_at) as last_bought_at, count() as frequency,
      ifNull(sum(amount_exact), 0) as monetary
    from ${purchases(from)}
    where student_id is not null and bought_at <= ${at}
    group by org_id, customer_id
  ) as sold using (org_id, customer_id)
)`

const scored = (from: From, at: string): string => `(
  select org_id, customer_id, frequency, monetary,
    dateDiff('day', toDate32(last_bought_at), toDate32(${at})) as recency_days,
    ${scoreBy('recency_days desc')} as r,
    ${scoreBy('frequency')} as f,
    ${scoreBy('monetary')} as m,
    toLowCardinality(${segmentOf}) as segment
  from ${bought(from, at)}
)`

const columns = {
  org_id: org,
  customer_id: id('the customer'),
  segment: word('the name of the segment'),
  recency_days: days('how many days ago the last transaction was made, counted in days of UTC'),
  frequency: count('how many transactions'),
  monetary: money('how much was paid'),
  r: score('5 for the fifth of customers who bought last, 1 for those whose last transaction is longest ago'),
  f: score('5 for the fifth with the most transactions'),
  m: score('5 for the fifth who paid most'),
}

const impersonal = ['segment', 'recency_days', 'frequency', 'monetary', 'r', 'f', 'm']

export const customerSegments: Mart = {
  name: 'customer_segments',
  kept: { byClock: true },
  about: 'Customers by recency, frequency and monetary value, in segments with names.',
  grain: 'a customer who is not deleted and has bought something',
  from: ['customers', 'transactions'],
  columns,
  impersonal,
  sql: (from) => `select ${Object.keys(columns).join(', ')}\nfrom ${scored(from, 'now64(3)')}`,
}

const atMoment = "parseDateTime64BestEffort({at:String}, 3, 'UTC')"

export const segmentMembers: Mart = {
  name: 'segment_members',
  about:
    "The customers of one segment at a moment, to be exported, or compared with those of another day. An organisation's own segment is asked for by its name, too.",
  grain: 'a customer who was in the segment at that moment',
  from: ['customers', 'transactions'],
  columns: {
    ...columns,
    recency_days: days('how many days before that moment the last transaction was made; 0 where none was'),
    frequency: count('how many transactions there were by then'),
    monetary: money('how much was paid by then'),
    r: score('as in customer_segments, at that moment; 0 where nothing was bought'),
    f: score('as in customer_segments, at that moment; 0 where nothing was bought'),
    m: score('as in customer_segments, at that moment; 0 where nothing was bought'),
  },
  impersonal,
  // The name of an own segment may tell what its members are.
  maskedWhere: `segment in (${segmentRules.map(({ segment }) => `'${segment}'`).join(', ')})`,
  asked: { name: 'loyal', at: '2026-01-31 12:00:00' },
  sql: (
    from,
  ) => `select org_id, customer_id, toLowCardinality({name:String}) as segment, recency_days, frequency, monetary, r, f, m
from ${scored((name) => from(`${name}_as_of(at = {at:String})`), atMoment)} as scored
full join (
  select org_id, customer_id, true as is_own
  from ${from('own_members_log')}
  where segment = {name:String} and since <= ${atMoment} and until > ${atMoment}
  group by org_id, customer_id
) as own using (org_id, customer_id)
where scored.segment = {name:String} or is_own`,
}
