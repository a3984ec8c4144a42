import { count, day, type From, id, type Mart, org, share, word, wordOrNull } from './mart.js'
import { purchases, seen } from './sources.js'

export const interactionsByDay: Mart = {
  name: 'interactions_by_day',
  kept: {},
  about: 'What people look at, share and use, where and on what.',
  grain: 'a day, item, kind of interaction, platform and country with at least one interaction',
  from: ['interactions', 'customers'],
  columns: {
    org_id: org,
    day: day('the day of the interactions, in UTC'),
    item_type: word('TAG, OFFER, SHOP or KEYWORD'),
    item_id: id('the item'),
    interaction_type: word('FILTER_CLICK, SHARE, PAGE_VIEW or DISCOUNT_CODE'),
    platform: wordOrNull('ANDROID, IOS, WEB or OTHER; null where it was not said'),
    country: wordOrNull('where they occurred; null where it was not said'),
    interactions: count('how many interactions'),
    recommended: count('how many of them came from a recommendation'),
    persons: count('how many different customers or else users; interactions without either do not count'),
  },
  sql: (from) => `select org_id, day, item_type, item_id, interaction_type, platform, country,
  count() as interactions,
  countIf(source is not null) as recommended,
  uniqExact(person) as persons
from ${seen(from)}
group by org_id, day, item_type, item_id, interaction_type, platform, country`,
}

/** Purchases by a person as interactions name one: a customer's id as text. */
const buys = (from: From): string => `(
  select org_id, shop_id, toString(assumeNotNull(student_id)) as person, bought_at as at, toNullable(bought_at) as bought_at
  from ${purchases(from)}
  where student_id is not null
)`

export const funnel: Mart = {
  name: 'funnel',
  kept: {},
  about: 'How many of those who view a shop go on to one of its offers, and from there to a purchase.',
  grain: 'a day and a shop that at least one person viewed on that day',
  from: ['interactions', 'customers', 'offers', 'transactions'],
  columns: {
    org_id: org,
    day: day('the day on which the shop was viewed, in UTC'),
    shop_id: id('the shop'),
    viewed: count('how many different persons viewed a page of the shop'),
    went_to_offer: count('how many of them did something with an offer of the shop within 30 days after that'),
    bought: count('how many of these bought in the shop within 30 days after that'),
    bought_at_all: count(
      'how many of those who viewed the shop bought in it within 30 days, with or without an offer between',
    ),
    offer_share: share('went_to_offer as a share of viewed'),
    bought_share: share('bought as a share of went_to_offer'),
  },
  sql: (from) => `select steps.org_id as org_id, steps.day as day, steps.shop_id as shop_id,
  uniqExact(steps.person) as viewed,
  uniqExactIf(steps.person, is_offer) as went_to_offer,
  uniqExactIf(steps.person, is_offer and ifNull(after_offer.bought_at <= offer_at + interval 30 day, false)) as bought,
  uniqExactIf(steps.person, ifNull(after_view.bought_at <= steps.seen_at + interval 30 day, false)) as bought_at_all,
  went_to_offer / viewed as offer_share,
  bought / nullIf(went_to_offer, 0) as bought_share
from (
  select views.org_id as org_id, views.day as day, views.shop_id as shop_id, views.person as person, views.seen_at as seen_at,
    next.offer_at as offer_at, ifNull(next.offer_at <= views.seen_at + interval 30 day, false) as is_offer,
    ifNull(next.offer_at, views.seen_at) as begun_at
  from (
    select org_id, day, item_id as shop_id, assumeNotNull(person) as person, seen_at
    from ${seen(from)} as seen
    where item_type = 'SHOP' and interaction_type = 'PAGE_VIEW' and seen.person is not null
  ) as views
  asof left join (
    select org_id, offers.shop_id as shop_id, assumeNotNull(person) as person, seen_at, toNullable(seen_at) as offer_at
    from ${seen(from)} as seen
    join (select org_id, offer_id as item_id, shop_id from ${from('offers_current')}) as offers using (org_id, item_id)
    where item_type = 'OFFER' and seen.person is not null
  ) as next on next.org_id = views.org_id and next.shop_id = views.shop_id and next.person = views.person
    and next.seen_at >= views.seen_at
) as steps
asof left join ${buys(from)} as after_view on after_view.org_id = steps.org_id and after_view.shop_id = steps.shop_id
  and after_view.person = steps.person and after_view.at >= steps.seen_at
asof left join ${buys(from)} as after_offer on after_offer.org_id = steps.org_id and after_offer.shop_id = steps.shop_id
  and after_offer.person = steps.person and after_offer.at >= steps.begun_at
group by org_id, day, shop_id`,
}
