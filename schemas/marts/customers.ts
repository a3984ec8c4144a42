import {
  count,
  type From,
  id,
  idOrNull,
  ids,
  instantOrNull,
  type Mart,
  money,
  org,
  text,
  textOrNull,
  texts,
  word,
} from './mart.js'
import { byCustomer } from './parts.js'
import { ageBand, purchases } from './sources.js'

/** A customer's own attributes, with what the ids in them are called. */
const attributes = (from: From): string => `(
  select org_id, customer_id, user_id, customers.region as region, gender,
    institute_id, nullIf(institutes.name, '') as institute, course_id, nullIf(courses.name, '') as course,
    ${ageBand('birthdate', 'today()')} as age_band
  from ${from('customers')} as customers
  left join ${from('institutes')} as institutes using (org_id, institute_id)
  left join ${from('courses')} as courses using (org_id, course_id)
)`

/** The names of the tags or keywords of each shop. */
const namesOfShops = (from: From, view: string, links: string, key: string): string => `(
  select org_id, shop_id, groupUniqArray(named.name) as names
  from ${from(links)} as links
  join ${from(view)} as named using (org_id, ${key})
  group by org_id, shop_id
)`

/** The names that a customer met most, by how many transactions were made in shops with each. */
const commonest = (names: string): string =>
  `arrayMap(each -> each.2, arraySort(each -> (-each.1, each.2), arrayZip(${names}.2, ${names}.1)))`

export const customersOverview: Mart = {
  name: 'customers_overview',
  kept: { parts: byCustomer },
  about: 'Everything about a customer on one line: who they are, what they bought, what they like.',
  grain: 'a customer who is not deleted',
  from: [
    'customers',
    'institutes',
    'courses',
    'transactions',
    'student-favourites',
    'shop-tags',
    'tags',
    'shop-keywords',
    'keywords',
  ],
  columns: {
    org_id: org,
    customer_id: id('the customer'),
    user_id: id('the user that the customer is'),
    region: word('the 2-letter country code of the customer'),
    gender: textOrNull('as the organisation records it'),
    age_band: textOrNull('how old the customer is today, in bands; null without a birthdate'),
    institute_id: idOrNull('the educational institute'),
    institute: textOrNull('what it is called'),
    course_id: idOrNull('the course'),
    course: textOrNull('what it is called'),
    first_bought_at: instantOrNull('when the first transaction was made; null where there is none'),
    last_bought_at: instantOrNull('when the last one was'),
    transactions: count('how many transactions'),
    amount: money('how much was paid'),
    savings: money('how much less was paid'),
    shops: count('in how many different shops'),
    top_shops: ids('the shops with the most transactions of this customer, the first first; at most 5'),
    favourite_shops: ids('the shops among the favourites of this customer'),
    tags: texts('the names of the tags of shops that this customer bought in, the commonest first'),
    keywords: texts('the names of the keywords of these shops, the commonest first'),
  },
  impersonal: [
    ...[
      'first_bought_at',
      'last_bought_at',
      'transactions',
      'amount',
      'savings',
      'shops',
      'top_shops',
      'favourite_shops',
    ],
    ...['tags', 'keywords'],
  ],
  sql: (
    from,
  ) => `select org_id, customer_id, user_id, region, gender, age_band, institute_id, institute, course_id, course,
  sold.first_bought_at as first_bought_at,
  sold.last_bought_at as last_bought_at,
  sold.transactions as transactions,
  sold.amount as amount,
  sold.savings as savings,
  length(sold.by_shop) as shops,
  arraySlice(arrayMap(each -> each.2, arraySort(each -> (-each.1, each.2), sold.by_shop)), 1, 5) as top_shops,
  favourites.shops as favourite_shops,
  ${commonest('sold.by_tag')} as tags,
  ${commonest('sold.by_keyword')} as keywords
from ${attributes(from)} as customers
left join (
  select org_id, customer_id, toNullable(min(first)) as first_bought_at, toNullable(max(last)) as last_bought_at,
    sum(bought) as transactions, sum(paid) as amount, sum(saved) as savings, groupArray((bought, shop_id)) as by_shop,
    sumMap(tags.names, arrayMap(each -> bought, tags.names)) as by_tag,
    sumMap(keywords.names, arrayMap(each -> bought, keywords.names)) as by_keyword
  from (
    select org_id, assumeNotNull(student_id) as customer_id, shop_id, count() as bought, min(bought_at) as first, max(bought_at) as last,
      ifNull(sum(amount_exact), 0) as paid, ifNull(sum(savings_exact), 0) as saved
    from ${purchases(from)}
    where student_id is not null
    group by org_id, customer_id, shop_id
  ) as by_shop
  left join ${namesOfShops(from, 'tags', 'shop_tags', 'tag_id')} as tags using (org_id, shop_id)
  left join ${namesOfShops(from, 'keywords', 'shop_keywords', 'keyword_id')} as keywords using (org_id, shop_id)
  group by org_id, customer_id
) as sold using (org_id, customer_id)
left join (
  select org_id, customer_id, arraySort(groupUniqArray(shop_id)) as shops from ${from('student_favourites')} group by org_id, customer_id
) as favourites using (org_id, customer_id)`,
}

export const customersByAttribute: Mart = {
  name: 'customers_by_attribute',
  kept: { reads: [customersOverview.name] },
  about: 'Segments by what customers are and where they buy: how many there are, and what they buy.',
  grain: 'an attribute and one of its values that at least one customer has',
  from: customersOverview.from,
  columns: {
    org_id: org,
    attribute: word(
      'region, institute, course, age_band, gender, tag or keyword; the last two of shops that a customer bought in',
    ),
    value: text('its value'),
    customers: count('how many customers have it'),
    buyers: count('how many of them have bought something'),
    transactions: count('how many transactions they made, in all shops'),
    amount: money('how much they paid'),
    savings: money('how much less they paid'),
  },
  sql: (from) => `select org_id, pair.1 as attribute, assumeNotNull(pair.2) as value,
  count() as customers,
  countIf(overview.transactions > 0) as buyers,
  sum(overview.transactions) as transactions,
  sum(overview.amount) as amount,
  sum(overview.savings) as savings
from ${from('customers_overview')} as overview
array join arrayConcat(
  [('region', toNullable(toString(region))), ('institute', institute), ('course', course), ('age_band', age_band), ('gender', gender)],
  arrayMap(each -> ('tag', toNullable(each)), tags),
  arrayMap(each -> ('keyword', toNullable(each)), keywords)
) as pair
where pair.2 is not null
group by org_id, attribute, value`,
}
