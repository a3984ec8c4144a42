import { count, day, type From, id, type Mart, org, ratio, share, word, wordOrNull } from './mart.js'
import { purchases, seen, shopsOfItems } from './sources.js'

const windows = [1, 7, 30]

/** Each interaction, whether the same person came back to the same item, and how soon the same student bought in one of the item's shops. */
const outcomes = (from: From): string => `(
  select org_id, interaction_id, seen.day as day, seen.item_type as item_type, seen.platform as platform, seen.country as country,
    seen.source as source, seen.recommendation_id as recommendation_id,
    ifNull(seen.next_at <= seen.seen_at + interval 1 day, false) as is_followed,
    bought.after_ms as bought_after_ms
  from (
    select seen.*, next.next_at as next_at
    from ${seen(from)} as seen
    asof left join (
      select org_id, person, item_type, item_id, seen_at, toNullable(seen_at) as next_at from ${seen(from)}
    ) as next
      on next.org_id = seen.org_id and next.person = seen.person and next.item_type = seen.item_type
        and next.item_id = seen.item_id and next.seen_at > seen.seen_at
  ) as seen
  left join (
    select reached.org_id as org_id, interaction_id,
      toNullable(min(dateDiff('millisecond', reached.seen_at, bought.bought_at))) as after_ms
    from (
      select org_id, interaction_id, seen_at, assumeNotNull(customer_id) as customer_id, items.shop_id as shop_id
      from ${seen(from)} as seen
      join ${shopsOfItems(from)} as items using (org_id, item_type, item_id)
      where seen.customer_id is not null
    ) as reached
    asof join (
      select org_id, assumeNotNull(student_id) as customer_id, shop_id, bought_at from ${purchases(from)} where student_id is not null
    ) as bought
      on bought.org_id = reached.org_id and bought.customer_id = reached.customer_id and bought.shop_id = reached.shop_id
        and bought.bought_at >= reached.seen_at
    group by org_id, interaction_id
  ) as bought using (org_id, interaction_id)
)`

const counts = `count() as interactions,
  countIf(is_followed) as followed,
  ${windows.map((n) => `countIf(ifNull(bought_after_ms <= ${n} * 86400000, false)) as bought_${n}d`).join(',\n  ')}`

const countColumns = {
  interactions: count('how many interactions'),
  followed: count('after how many of them the same person did something with the same item within a day'),
  bought_1d: count('after how many of them the same student bought in a shop of the item within a day'),
  bought_7d: count('the same, within 7 days'),
  bought_30d: count('the same, within 30 days'),
}

const sources = ['interactions', 'customers', 'transactions', 'shops', 'offers', 'shop-tags', 'shop-keywords']

export const recommendations: Mart = {
  name: 'recommendations',
  kept: {},
  about: 'What came of interactions that a recommendation brought (source SERVICE), and of all others.',
  grain: 'a day, kind of item, platform, country and source with at least one interaction',
  from: sources,
  columns: {
    org_id: org,
    day: day('the day of the interactions, in UTC'),
    item_type: word('TAG, OFFER, SHOP or KEYWORD'),
    platform: wordOrNull('ANDROID, IOS, WEB or OTHER; null where it was not said'),
    country: wordOrNull('where they occurred; null where it was not said'),
    source: wordOrNull('SERVICE where they came from a recommendation, null for browsing'),
    ...countColumns,
  },
  sql: (from) => `select org_id, day, item_type, platform, country, source,
  ${counts}
from ${outcomes(from)}
group by org_id, day, item_type, platform, country, source`,
}

export const recommendationsById: Mart = {
  name: 'recommendations_by_id',
  kept: {},
  about: 'What came of each recommendation.',
  grain: 'a recommendation and the kind of item that it led to',
  from: sources,
  columns: {
    org_id: org,
    recommendation_id: id('the recommendation'),
    item_type: word('TAG, OFFER, SHOP or KEYWORD'),
    first_day: day('the day of the first interaction that it brought, in UTC'),
    last_day: day('the day of the last one'),
    ...countColumns,
  },
  sql: (
    from,
  ) => `select org_id, assumeNotNull(recommendation_id) as recommendation_id, item_type, min(day) as first_day, max(day) as last_day,
  ${counts}
from ${outcomes(from)} as outcomes
where outcomes.recommendation_id is not null
group by org_id, recommendation_id, item_type`,
}

export const recommendationLift: Mart = {
  name: 'recommendation_lift',
  about: 'How much likelier a purchase is after a recommended interaction than after any other, and how sure that is.',
  grain: 'a kind of item, platform, country and number of days; all days of interactions together',
  from: sources,
  columns: {
    org_id: org,
    item_type: word('TAG, OFFER, SHOP or KEYWORD'),
    platform: wordOrNull('ANDROID, IOS, WEB or OTHER; null where it was not said'),
    country: wordOrNull('where the interactions occurred; null where it was not said'),
    within_days: count('within how many days after the interaction a purchase counts: 1, 7 or 30'),
    recommended: count('how many interactions came from a recommendation'),
    recommended_bought: count('after how many of them the same student bought in a shop of the item'),
    others: count('how many interactions did not'),
    others_bought: count('after how many of these the same student bought'),
    recommended_share: share('recommended_bought as a share of recommended'),
    others_share: share('others_bought as a share of others'),
    lift: ratio('recommended_share divided by others_share; null where one of them is 0 or missing'),
    lift_low: ratio('the lift is at least this, with a probability of 97.5 %'),
    lift_high: ratio('the lift is at most this, with a probability of 97.5 %'),
  },
  sql: (from) => `select org_id, item_type, platform, country, toUInt64(pair.1) as within_days,
  sumIf(interactions, source is not null) as recommended,
  sumIf(pair.2, source is not null) as recommended_bought,
  sumIf(interactions, source is null) as others,
  sumIf(pair.2, source is null) as others_bought,
  recommended_bought / nullIf(recommended, 0) as recommended_share,
  others_bought / nullIf(others, 0) as others_share,
  nullIf(recommended_share, 0) / nullIf(others_share, 0) as lift,
  1.96 * sqrt((1 - recommended_share) / nullIf(recommended_bought, 0) + (1 - others_share) / nullIf(others_bought, 0)) as margin,
  lift * exp(-margin) as lift_low,
  lift * exp(margin) as lift_high
from ${from('recommendations')}
array join [${windows.map((n) => `(${n}, bought_${n}d)`).join(', ')}] as pair
group by org_id, item_type, platform, country, within_days`,
}
