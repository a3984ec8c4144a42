import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { catalogue, createCatalogue, uploads } from '#schemas/catalogue.js'
import { topicsOf } from '#schemas/derive/topics.js'
import { impersonal, naming, personal, reference, text, uuid } from '#schemas/field.js'
import { outsidePlaces } from '#schemas/persons/outside-places.js'
import type { KeptPlace } from '#schemas/persons/place.js'
import { clickhousePlaces, topicPlaces } from '#schemas/persons/places.js'
import { postgresPlaces } from '#schemas/persons/postgres-places.js'
import { lifecycle, record } from '#schemas/record.js'
import { interaction } from '#schemas/records/interaction.js'
import { dataInventoryPage } from '../../deploy/data-inventory.js'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const tablesIn = (sql: string, pattern: RegExp) => [...sql.matchAll(pattern)].map(([, name]) => name).sort()

it('is committed as it is derived; if not: npm run publish-schemas', () => {
  expect(read('docs/data-inventory.md')).toBe(dataInventoryPage())
})

it('has an entry for every table in Postgres, and for no other', () => {
  const tables = tablesIn(read('schemas/published/postgres.sql'), /^create table (\S+) \(/gm)
  expect(tables.length).toBeGreaterThan(20)
  expect(Object.keys(postgresPlaces).sort()).toEqual(tables)
})

it('has an entry for every topic, and for no other', () => {
  const topics = topicsOf(catalogue).map(({ name }) => name)
  expect([...topicPlaces(catalogue).keys()].sort()).toEqual(topics.sort())
})

it('has an entry for every table in ClickHouse, and for no other', () => {
  const tables = tablesIn(read('schemas/published/clickhouse.sql'), /^create table if not exists weir\.(\S+)/gm)
  expect(tables.length).toBeGreaterThan(40)
  expect([...clickhousePlaces(catalogue).keys()].sort()).toEqual(tables)
})

it('says of everything that is about persons how long it is kept and why', () => {
  const all = [
    ...topicPlaces(catalogue),
    ...clickhousePlaces(catalogue),
    ...Object.entries({ ...postgresPlaces, ...outsidePlaces }),
  ]
  const isMute = ({ form, holds, kept, why }: KeptPlace) =>
    holds === '' || (form !== 'nothing' && (kept === '' || why === ''))
  expect(all.filter(([, place]) => isMute(place)).map(([name]) => name)).toEqual([])
})

it('takes a new type from its declaration', () => {
  const diary = record({
    type: 'diaries',
    id: 'diary_id',
    about: 'What a student notes.',
    fields: {
      diary_id: impersonal(uuid()),
      customer_id: naming('customer', reference('customers')),
      mood: personal(text()),
      ...lifecycle,
    },
  })
  const wider = createCatalogue([...uploads, diary], interaction)
  const holds =
    '`customer_id` and of this person `mood` beside 4 fields that are about the person only together with these'
  expect(topicPlaces(wider).get('weir.accepted.diaries')).toMatchObject({ holds, form: 'personal' })
  expect(clickhousePlaces(wider).get('diaries_log')).toMatchObject({ holds, form: 'personal' })
  expect(topicPlaces(wider).get('weir.accepted.shops')).toMatchObject({ form: 'nothing' })
})
