import { count, type From, flagOrNull, id, instantOrNull, type Mart, money, org, text, texts, word } from './mart.js'
import { purchases, seen, shopsOfItems } from './sources.js'

export const shopsOverview: Mart = {
  name: 'shops_overview',
  kept: { byClock: true },
  about: 'Everything about a shop on one line: what it has, what it sold, who looked at it.',
  grain: 'a shop that is not deleted',
  from: [
    'shops',
    'branches',
    'shop-categories',
    'categories',
    'shop-tags',
    'tags',
    'shop-keywords',
    'keywords',
    'offers',
    'student-favourites',
    'transactions',
    'interactions',
  ],
  columns: {
    org_id: org,
    shop_id: id('the shop'),
    name: text('what it is called'),
    region: word('its 2-letter country code'),
    is_public: flagOrNull('whether it is public, null where that was not said'),
    branches: count('how many branches it has'),
    categories: texts('the names of its categories'),
    tags: texts('the names of its tags'),
    keywords: texts('the names of its keywords'),
    offers: count('how many offers it has'),
    offers_now: count('how many of them are enabled and valid at this moment'),
    favourites: count('how many students have it among their favourites'),
    interactions: count('how many interactions there were with it and with its offers'),
    transactions: count('how many transactions were made in it'),
    customers: count('how many different students bought in it'),
    amount: money('how much was paid'),
    savings: money('how much less was paid'),
    first_bought_at: instantOrNull('when the first transaction was made'),
    last_bought_at: instantOrNull('when the last one was'),
  },
  sql: (from) => `select org_id, shop_id, shops.name as name, shops.region as region, shops.is_public as is_public,
  branches.count as branches,
  categories.names as categories,
  tags.names as tags,
  keywords.names as keywords,
  offers.count as offers,
  offers.valid as offers_now,
  favourites.count as favourites,
  seen.count as interactions,
  sold.transactions as transactions,
  sold.customers as customers,
  sold.amount as amount,
  sold.savings as savings,
  sold.first_bought_at as first_bought_at,
  sold.last_bought_at as last_bought_at
from ${from('shops')} as shops
left join (
  select org_id, shop_id, count() as count from ${from('branches')} group by org_id, shop_id
) as branches using (org_id, shop_id)
left join (
  select org_id, shop_id, count() as count,
    countIf(ifNull(is_enabled, true) and ifNull(allowed_from <= now64(3), true) and ifNull(allowed_to >= now64(3), true)) as valid
  from ${from('offers')}
  group by org_id, shop_id
) as offers using (org_id, shop_id)
left join (
  select org_id, shop_id, uniqExact(customer_id) as count from ${from('student_favourites')} group by org_id, shop_id
) as favourites using (org_id, shop_id)
${named(from, 'categories', 'shop_categories', 'category_id')}
${named(from, 'tags', 'shop_tags', 'tag_id')}
${named(from, 'keywords', 'shop_keywords', 'keyword_id')}
left join (
  select org_id, shop_id, count() as count
  from ${seen(from)} as seen
  join ${shopsOfItems(from)} as items
    using (org_id, item_type, item_id)
  where item_type in ('SHOP', 'OFFER')
  group by org_id, shop_id
) as seen using (org_id, shop_id)
left join (
  select org_id, shop_id, count() as transactions, uniqExact(student_id) as customers,
    ifNull(sum(amount_exact), 0) as amount, ifNull(sum(savings_exact), 0) as savings,
    toNullable(min(bought_at)) as first_bought_at, toNullable(max(bought_at)) as last_bought_at
  from ${purchases(from)}
  group by org_id, shop_id
) as sold using (org_id, shop_id)`,
}

/** The names of what a shop is linked to, in the order of the alphabet. */
function named(from: From, view: string, links: string, key: string): string {
  return `left join (
  select org_id, shop_id, arraySort(groupUniqArray(named.name)) as names
  from ${from(links)} as links
  join ${from(view)} as named using (org_id, ${key})
  group by org_id, shop_id
) as ${view} using (org_id, shop_id)`
}
