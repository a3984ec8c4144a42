import { expect, it } from 'vitest'
import { type Catalogue, catalogue } from '#schemas/catalogue.js'
import { clickhouseSql } from '#schemas/derive/clickhouse.js'
import { impersonal, naming, number, optional, personal, text, uuid } from '#schemas/field.js'
import { marts } from '#schemas/marts/all.js'
import { count, id, ids, type Mart, org, text as textColumn } from '#schemas/marts/mart.js'
import { maskedFieldsOf } from '#schemas/persons/about-persons.js'
import { maskOfColumn, masksOfMart } from '#schemas/persons/masks.js'
import { columnsOf, record } from '#schemas/record.js'

it('masks the fields of every type that name a person or are personal, and no others', () => {
  for (const type of catalogue.all.values()) {
    const masked = Object.keys(columnsOf(type)).filter((name) => maskOfColumn(type, name) !== 'shown')
    expect(masked, type.type).toEqual(maskedFieldsOf(type))
  }
})

it('masks a new type by its fields alone, the exact number beside a personal one too', () => {
  const visit = record({
    type: 'visits',
    id: 'visit_id',
    about: 'A visit.',
    fields: {
      visit_id: impersonal(uuid()),
      guest_id: naming('customer', uuid()),
      guest: naming('user', optional(text())),
      paid: personal(optional(number({ isSummed: true }))),
      note: impersonal(optional(text())),
    },
  })
  const more: Catalogue = { ...catalogue, all: new Map([...catalogue.all, [visit.type, visit]]) }
  const views = clickhouseSql(more).filter((each) => /^create or replace view weir_masked\.visits\b/.test(each))
  expect(views).toHaveLength(1)
  expect(views[0]).toContain('shown.`note` as `note`')
  expect(views[0]).toContain("defaultValueOfTypeName('Nullable(Float64)') as `paid`")
  expect(views[0]).toContain("defaultValueOfTypeName('Nullable(Decimal(38, 9))') as `paid_exact`")
  const read = [...(views[0] ?? '').matchAll(/([\w(]+)\(?shown\.`(guest_id|guest|paid)`/g)].map(([, by, name]) => [
    by,
    name,
  ])
  expect(new Set(read.map(([, name]) => name))).toEqual(new Set(['guest_id', 'guest']))
  expect(views[0]).not.toMatch(/shown\.`(?:guest_id|guest)` as/)
})

const maskedIn = (columns: Mart['columns'], more: Partial<Mart> = {}) => masksOfMart({ columns, ...more })

it('shows of a mart about one person only what is declared to be impersonal', () => {
  expect(
    maskedIn({ org_id: org, customer_id: id(''), age: count(''), orders: count('') }, { impersonal: ['orders'] }),
  ).toEqual({
    ...{ org_id: 'shown', customer_id: 'customer', age: 'hidden', orders: 'shown' },
  })
})

it('takes an id that no type declares for one of a person, and hides lists of ids', () => {
  expect(maskedIn({ org_id: org, buyer: id(''), shop_id: id(''), note: textColumn('') })).toEqual({
    ...{ org_id: 'shown', buyer: 'customer', shop_id: 'hidden', note: 'hidden' },
  })
  expect(maskedIn({ org_id: org, shop_id: id(''), buyers: ids(''), orders: count('') })).toEqual({
    ...{ org_id: 'shown', shop_id: 'shown', buyers: 'hidden', orders: 'shown' },
  })
})

it('hides what somebody has written, and shows sums over persons as they are', () => {
  const masked = marts.flatMap((mart) =>
    Object.entries(masksOfMart(mart)).flatMap(([name, mask]) =>
      mask === 'shown' ? [] : [`${mart.name}.${name} ${mask}`],
    ),
  )
  expect(masked).toEqual([
    'customers_overview.customer_id customer',
    'customers_overview.user_id user',
    ...['region', 'gender', 'age_band', 'institute_id', 'institute', 'course_id', 'course'].map(
      (name) => `customers_overview.${name} hidden`,
    ),
    'customer_segments.customer_id customer',
    'segment_members.customer_id customer',
    'own_segments.condition hidden',
    'own_segments.about hidden',
  ])
})

it('declares as impersonal and as written only columns that there are', () => {
  for (const { name, columns, impersonal = [], written = [] } of marts)
    expect(
      [...impersonal, ...written].filter((each) => !(each in columns)),
      name,
    ).toEqual([])
})
