import { count, flagOrNull, id, instantOrNull, type Mart, money, org, share, text, word } from './mart.js'
import { purchases, seen } from './sources.js'

export const offersUsed: Mart = {
  name: 'offers_used',
  kept: {},
  about: 'Which offers are looked at and used, and what they bring.',
  grain: 'an offer that is not deleted',
  from: ['offers', 'transactions', 'interactions', 'branches'],
  columns: {
    org_id: org,
    offer_id: id('the offer'),
    shop_id: id('its shop'),
    name: text('what it is called'),
    type: text('for example percentage or fixed'),
    region: word('its 2-letter country code'),
    is_enabled: flagOrNull('whether it is enabled, null where that was not said'),
    views: count('how often a page of it was viewed'),
    interactions: count('how many interactions there were with it, views among them'),
    uses: count('in how many transactions it was used'),
    customers: count('how many different students used it'),
    amount: money('how much was paid in these transactions'),
    savings: money('how much less was paid'),
    share_of_sales: share("its transactions as a share of its shop's transactions"),
    eligible_branches: count("the shop's branches in which it may be used: those of allowed_branches, or all"),
    branches_used: count('in how many of these it was used'),
    share_of_eligible: share('branches_used as a share of eligible_branches'),
    first_used_at: instantOrNull('when it was first used'),
    last_used_at: instantOrNull('when it was last used'),
  },
  sql: (from) => `select org_id, offer_id, shop_id, name, type, region, is_enabled,
  seen.views as views,
  seen.interactions as interactions,
  used.uses as uses,
  used.customers as customers,
  used.amount as amount,
  used.savings as savings,
  uses / nullIf(sold.transactions, 0) as share_of_sales,
  length(eligible) as eligible_branches,
  length(arrayIntersect(eligible, used.branches)) as branches_used,
  branches_used / nullIf(eligible_branches, 0) as share_of_eligible,
  used.first_used_at as first_used_at,
  used.last_used_at as last_used_at
from (
  select org_id, offer_id, shop_id, name, type, region, is_enabled,
    if(empty(allowed), branches.of_shop, arrayIntersect(branches.of_shop, allowed)) as eligible,
    arrayMap(each -> toUUIDOrZero(trim(each)), splitByChar(',', ifNull(allowed_branches, ''))) as given,
    arrayFilter(each -> each != toUUID('00000000-0000-0000-0000-000000000000'), given) as allowed
  from ${from('offers')} as offers
  left join (
    select org_id, shop_id, groupUniqArray(branch_id) as of_shop from ${from('branches')} group by org_id, shop_id
  ) as branches using (org_id, shop_id)
) as offers
left join (
  select org_id, offer_id, count() as uses, uniqExact(student_id) as customers,
    ifNull(sum(amount_exact), 0) as amount, ifNull(sum(savings_exact), 0) as savings,
    groupUniqArray(branch_id) as branches,
    toNullable(min(bought_at)) as first_used_at, toNullable(max(bought_at)) as last_used_at
  from ${purchases(from)}
  where offer_id is not null
  group by org_id, offer_id
) as used using (org_id, offer_id)
left join (
  select org_id, shop_id, count() as transactions from ${from('transactions')} group by org_id, shop_id
) as sold using (org_id, shop_id)
left join (
  select org_id, item_id as offer_id, countIf(interaction_type = 'PAGE_VIEW') as views, count() as interactions
  from ${seen(from)}
  where item_type = 'OFFER'
  group by org_id, item_id
) as seen using (org_id, offer_id)`,
}
