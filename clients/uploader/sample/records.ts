import { type Chance, createChance, idOf } from './chance.js'
import {
  areas,
  categories,
  cities,
  courses,
  institutes,
  keywords,
  offerNames,
  shopNames,
  shopTrades,
  tags,
} from './words.js'

/** How much there is of each type. */
export type Amounts = Readonly<Record<string, number>>

export const amountsFor = (customers: number, shops = Math.max(5, Math.ceil(customers / 50))): Amounts => ({
  shops,
  categories: categories.length,
  tags: tags.length,
  keywords: keywords.length,
  institutes: institutes.length,
  courses: courses.length,
  customers,
  branches: shops * 2,
  offers: shops * 3,
  transactions: customers * 3,
  'shop-categories': shops,
  'shop-tags': shops * 2,
  'shop-keywords': shops * 2,
  'student-favourites': customers,
  interactions: customers * 2,
})

export type Sample = {
  seed: number
  amounts: Amounts
  /** Which share of the rows is wrong. */
  broken: number
}

/** Whether the row at this place is wrong on purpose. */
export const isBroken = ({ seed, broken }: Sample, type: string, index: number): boolean =>
  broken > 0 && createChance(seed, 'broken', type, index).isLikely(broken)

/** The right record at this place. What it refers to is right as well, so that only rows that are wrong themselves are refused. */
export const recordAt = (sample: Sample, type: string, index: number): Record<string, unknown> => {
  const chance = createChance(sample.seed, type, index)
  const make = makers[type]
  if (!make) throw new Error(`there is no sample of ${type}`)
  return make({ sample, chance, index, id: idOf(sample.seed, type, index) })
}

type Making = { sample: Sample; chance: Chance; index: number; id: string }

/** The id of a right record of another type. */
const anyOf = ({ sample, chance }: Making, type: string): string => {
  const amount = sample.amounts[type] ?? 1
  const first = chance.below(amount)
  for (let i = 0; i < amount; i++) {
    const at = (first + i) % amount
    if (!isBroken(sample, type, at)) return idOf(sample.seed, type, at)
  }
  return idOf(sample.seed, type, first)
}

const regions = ['GB', 'GB', 'GB', 'IE', 'DE', 'FR']
const day = 86_400_000
// A fixed end: the same seed gives the same files in every year.
const until = Date.UTC(2026, 0, 1)
const moment = (chance: Chance, days: number): string =>
  new Date(until - chance.below(days * day)).toISOString().replace(/\.\d+Z$/, 'Z')
const money = (chance: Chance, most: number): number => Math.max(1, chance.below(most * 100)) / 100

const makers: Readonly<Record<string, (making: Making) => Record<string, unknown>>> = {
  shops: ({ chance, id, index }) => ({
    shop_id: id,
    name: `${chance.one(shopNames)} ${chance.one(shopTrades)}${index < 200 ? '' : ` ${index}`}`,
    region: chance.one(regions),
    is_public: chance.isLikely(0.9),
    created: moment(chance, 900),
  }),
  categories: ({ id, index }) => ({ category_id: id, name: categories[index], region: 'GB' }),
  tags: ({ id, index }) => ({ tag_id: id, name: tags[index] }),
  keywords: ({ id, index }) => ({ keyword_id: id, name: keywords[index] }),
  institutes: ({ id, index }) => ({ institute_id: id, name: institutes[index], region: 'GB' }),
  courses: ({ id, index }) => ({ course_id: id, name: courses[index] }),
  customers: (making) => {
    const { chance, id, sample, index } = making
    return {
      customer_id: id,
      user_id: idOf(sample.seed, 'users', index),
      region: chance.one(regions),
      birthdate: new Date(Date.UTC(1985, 0, 1) + chance.below(22 * 365) * day).toISOString().slice(0, 10),
      institute_id: anyOf(making, 'institutes'),
      course_id: anyOf(making, 'courses'),
      gender: chance.one(['female', 'male', 'other', undefined]),
      created: moment(chance, 700),
    }
  },
  branches: (making) => {
    const { chance, id } = making
    const [latitude, longitude] = [50 + chance.below(60_000) / 10_000, -5 + chance.below(60_000) / 10_000]
    return {
      branch_id: id,
      shop_id: anyOf(making, 'shops'),
      name: `${chance.one(cities)}, ${chance.one(areas)}`,
      region: chance.one(regions),
      latitude,
      longitude,
    }
  },
  offers: (making) => {
    const { chance, id } = making
    const type = chance.one(['percentage', 'percentage', 'fixed'])
    return {
      offer_id: id,
      shop_id: anyOf(making, 'shops'),
      name: chance.one(offerNames),
      type,
      value: type === 'percentage' ? 5 * (1 + chance.below(10)) : money(chance, 20),
      region: chance.one(regions),
      allowed_from: moment(chance, 300),
      allowed_days: chance.one(['Monday,Tuesday', 'Saturday,Sunday', undefined]),
      is_enabled: chance.isLikely(0.9),
    }
  },
  transactions: (making) => {
    const { chance, id } = making
    const amount = money(chance, 120)
    return {
      transaction_id: id,
      shop_id: anyOf(making, 'shops'),
      region: chance.one(regions),
      savings: Math.round(amount * chance.below(30)) / 100,
      amount,
      student_id: anyOf(making, 'customers'),
      offer_id: anyOf(making, 'offers'),
      source: chance.one(['online', 'in-store']),
      created: moment(chance, 600),
    }
  },
  'shop-categories': (making) => ({
    shop_category_id: making.id,
    shop_id: anyOf(making, 'shops'),
    category_id: anyOf(making, 'categories'),
    region: making.chance.one(regions),
  }),
  'shop-tags': (making) => ({
    shop_tag_id: making.id,
    shop_id: anyOf(making, 'shops'),
    tag_id: anyOf(making, 'tags'),
  }),
  'shop-keywords': (making) => ({
    shop_keyword_id: making.id,
    shop_id: anyOf(making, 'shops'),
    keyword_id: anyOf(making, 'keywords'),
  }),
  'student-favourites': (making) => ({
    student_favourite_id: making.id,
    customer_id: anyOf(making, 'customers'),
    shop_id: anyOf(making, 'shops'),
    created: moment(making.chance, 400),
  }),
  interactions: (making) => {
    const { chance } = making
    const [kind, type] = chance.one([
      ['SHOP', 'shops'],
      ['OFFER', 'offers'],
      ['TAG', 'tags'],
      ['KEYWORD', 'keywords'],
    ] as const)
    return {
      interaction_type: chance.one(['PAGE_VIEW', 'PAGE_VIEW', 'FILTER_CLICK', 'SHARE', 'DISCOUNT_CODE']),
      student_id: anyOf(making, 'customers'),
      item_type: kind,
      item_id: anyOf(making, type),
      city: chance.one(cities),
      country: 'GB',
      platform: chance.one(['ANDROID', 'IOS', 'WEB', 'OTHER']),
      event_timestamp: moment(chance, 90),
      source: chance.one(['SERVICE', undefined]),
    }
  },
}
