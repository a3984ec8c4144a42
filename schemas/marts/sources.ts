import type { From } from './mart.js'

// What several marts begin with. Each is a query in brackets, to be read from under a name.

/** The columns of transactions that marts read. */
export const purchaseColumns = [
  ...['org_id', 'transaction_id', 'shop_id', 'region', 'branch_id', 'source', 'offer_id', 'student_id'],
  ...['amount_exact', 'savings_exact', 'created', 'accepted_at'],
]

/** Each transaction that is not deleted, with the time and the day (UTC) at which it happened, as far as that is known. */
export const purchases = (from: From): string => `(
  select ${purchaseColumns.filter((name) => name !== 'created' && name !== 'accepted_at').join(', ')},
    ifNull(created, accepted_at) as bought_at, toDate32(bought_at) as day
  from ${from('transactions')}
)`

/**
 * Each interaction with the customer that it belongs to: its student, or else the customer with its user_id, where several have it the first
 * by id. `person` is that customer, or else the user_id.
 */
export const seen = (from: From): string => `(
  select interactions.org_id as org_id, interaction_id, interaction_type, item_type, item_id, platform, country, source,
    recommendation_id, event_timestamp as seen_at, toDate32(event_timestamp) as day,
    coalesce(student_id, customer_of_user) as customer_id,
    coalesce(toString(coalesce(student_id, customer_of_user)), user_id) as person
  from ${from('interactions')} as interactions
  left join (
    select org_id, user_id as user_uuid, toNullable(min(customer_id)) as customer_of_user
    from ${from('customers')}
    group by org_id, user_id
  ) as users
    on users.org_id = interactions.org_id and users.user_uuid = toUUIDOrZero(ifNull(interactions.user_id, ''))
)`

/**
 * The shops that an item leads to: itself, the shop of an offer, also where the offer has been deleted since, or the shops with a tag or a
 * keyword.
 */
export const shopsOfItems = (from: From): string => `(
  select distinct org_id, item_type, item_id, shop_id
  from (
    select org_id, 'SHOP' as item_type, shop_id as item_id, shop_id from ${from('shops_current')}
    union all
    select org_id, 'OFFER' as item_type, offer_id as item_id, shop_id from ${from('offers_current')}
    union all
    select org_id, 'TAG' as item_type, tag_id as item_id, shop_id from ${from('shop_tags')}
    union all
    select org_id, 'KEYWORD' as item_type, keyword_id as item_id, shop_id from ${from('shop_keywords')}
  )
)`

/** The age band of a birthdate at a day, null without a birthdate. */
export const ageBand = (birthdate: string, at: string): string =>
  `multiIf(${birthdate} is null, null, ${bands
    .map(({ below, name }) => `age('year', ${birthdate}, ${at}) < ${below}, '${name}'`)
    .join(', ')}, '${oldest}')`

const bands = [
  { below: 18, name: 'under 18' },
  { below: 21, name: '18 to 20' },
  { below: 25, name: '21 to 24' },
  { below: 30, name: '25 to 29' },
  { below: 40, name: '30 to 39' },
]
const oldest = '40 and over'
