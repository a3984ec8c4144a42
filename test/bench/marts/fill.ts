// Records of one large organisation, made by ClickHouse itself: so many transactions, a quarter as many interactions, and what they
// refer to. The same numbers give the same records. Some shops and customers have many more than others; one transaction in 50 has a
// second version, and half of these are deleted.

const idOf = (kind: string, number: string): string => `reinterpretAsUUID(MD5(concat('${kind}', toString(${number}))))`
const hash = (salt: number): string => `cityHash64(number, ${salt})`
/** A number below `most`, the small ones far more often. */
const skewed = (salt: number, most: number): string => `toUInt32(pow(${hash(salt)} % 1000000 / 1000000, 2) * ${most})`
const one = (from: string, choices: string): string => `${choices}[1 + ${from} % length(${choices})]`
const regions = "['GB', 'FR', 'DE', 'ES', 'IT']"
const shops = 2000
const customers = 200_000
/** Within two years. */
const moment = `toDateTime64('2024-01-01 00:00:00', 3, 'UTC') + toIntervalSecond(${hash(10)} % 63072000)`

/** A statement that writes rows to the log of a type: each column with its expression of `number`. */
const rows = (log: string, org: string, count: number, columns: Record<string, string>, from = 'numbers') => {
  const all = { org_id: `'${org}'`, ...columns, version: '1', accepted_at: "'2026-01-01 00:00:00'" }
  return `insert into weir.${log} (${Object.keys(all).join(', ')})
select ${Object.values(all).join(', ')}
from ${from}(${count})`
}

export const fillSql = (org: string, transactions: number): string[] => {
  const link = (type: string, of: string, known: number) =>
    rows(`shop_${type}s_log`, org, 3 * shops, {
      [`shop_${type}_id`]: idOf(`shop ${type}`, 'number'),
      shop_id: idOf('shop', `number % ${shops}`),
      [`${type}_id`]: idOf(of, `${hash(1)} % ${known}`),
    })
  const named = (log: string, kind: string, count: number, more: Record<string, string> = {}) =>
    rows(log, org, count, {
      [`${kind}_id`]: idOf(kind, 'number'),
      name: `concat('${kind} ', toString(number))`,
      ...more,
    })
  const region = { region: one('number', regions) }
  const shop = skewed(1, shops)
  return [
    named('shops_log', 'shop', shops, { ...region, is_public: 'true' }),
    named('branches_log', 'branch', 3 * shops, { ...region, shop_id: idOf('shop', `number % ${shops}`) }),
    named('tags_log', 'tag', 50),
    named('keywords_log', 'keyword', 200),
    link('tag', 'tag', 50),
    link('keyword', 'keyword', 200),
    named('institutes_log', 'institute', 100, region),
    named('courses_log', 'course', 300),
    named('offers_log', 'offer', 5 * shops, {
      ...{ ...region, shop_id: idOf('shop', `number % ${shops}`), type: "'percentage'", value: '10' },
    }),
    rows('customers_log', org, customers, {
      ...{ customer_id: idOf('customer', 'number'), user_id: idOf('user', 'number'), ...region },
      ...{
        gender: one('number', "['female', 'male']"),
        birthdate: "toDate32('1995-01-01') + toIntervalDay(number % 5000)",
      },
      ...{ institute_id: idOf('institute', 'number % 100'), course_id: idOf('course', 'number % 300') },
    }),
    rows('student_favourites_log', org, customers, {
      student_favourite_id: idOf('favourite', 'number'),
      customer_id: idOf('customer', `${hash(1)} % ${customers}`),
      shop_id: idOf('shop', `${hash(2)} % ${shops}`),
    }),
    rows('transactions_log', org, transactions, {
      ...{ transaction_id: idOf('transaction', 'number'), shop_id: idOf('shop', shop), region: one(shop, regions) },
      branch_id: `if(${hash(4)} % 2 = 0, ${idOf('branch', `${shop} + ${shops} * (${hash(4)} % 3)`)}, null)`,
      source: one(hash(3), "['online', 'in-store', null]"),
      offer_id: `if(${hash(5)} % 12 < 5, ${idOf('offer', `${shop} + ${shops} * (${hash(5)} % 5)`)}, null)`,
      student_id: `if(${hash(6)} % 20 = 0, null, ${idOf('customer', skewed(7, customers))})`,
      ...{ amount: `(100 + ${hash(8)} % 10000) / 100`, savings: `(${hash(9)} % 1000) / 100`, created: moment },
    }),
    `insert into weir.transactions_log
  (org_id, transaction_id, shop_id, region, branch_id, source, offer_id, student_id, amount, savings, created, version, accepted_at, is_deleted)
select org_id, transaction_id, shop_id, region, branch_id, source, offer_id, student_id, amount + 1, savings, created + toIntervalDay(1),
  2, '2026-01-02 00:00:00', cityHash64(transaction_id) % 100 = 0
from weir.transactions_log
where org_id = '${org}' and version = 1 and cityHash64(transaction_id) % 50 = 0`,
    rows('interactions_log', org, Math.ceil(transactions / 4), {
      interaction_id: idOf('interaction', 'number'),
      interaction_type: one(hash(2), "['PAGE_VIEW', 'SHARE', 'DISCOUNT_CODE']"),
      item_type: one('number', "['SHOP', 'SHOP', 'OFFER', 'TAG']"),
      item_id: one(
        'number',
        `[${idOf('shop', shop)}, ${idOf('shop', shop)}, ${idOf('offer', shop)}, ${idOf('tag', `${hash(1)} % 50`)}]`,
      ),
      ...{ platform: one(hash(12), "['WEB', 'IOS', 'ANDROID']"), country: one(hash(13), "['GB', 'FR']") },
      source: `if(${hash(11)} % 4 = 0, 'SERVICE', null)`,
      recommendation_id: `if(${hash(11)} % 4 = 0, ${idOf('recommendation', `${hash(14)} % 5000`)}, null)`,
      user_id: `toString(${idOf('user', `${hash(7)} % ${customers}`)})`,
      ...{ event_timestamp: moment, recorded_at: moment },
    }),
  ]
}
