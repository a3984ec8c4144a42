import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { conditionOf, goneFrom } from '../../../../services/operator/rebuild/carry-over.js'
import { type Table, tablesOf } from '../../../../services/operator/rebuild/tables.js'

const [shops] = tablesOf(catalogue, ['shops']) as [Table]
const stretch = (partition: number, from: number, until: number) => ({ topic: 't', partition, from, until })
const hour = 3_600_000

it('carries nothing over while the topic holds everything', () => {
  const whole = [stretch(0, 0, 10), stretch(1, 0, 0)]
  expect(goneFrom(whole, whole, new Map([[0, 5]]))).toEqual([])
  expect(conditionOf(shops, 4, [])).toBeUndefined()
})

it('carries over what is older than the first message left, and an hour more', () => {
  const trimmed = [stretch(0, 7, 10), stretch(1, 0, 10)]
  const gone = goneFrom(trimmed, trimmed, new Map([[0, 1000]]))
  expect(gone).toEqual([{ partition: 0, until: 1000 + hour }])
  expect(conditionOf(shops, 4, gone)).toBe(
    "(kafkaMurmurHash(concat(org_id, '/', toString(`shop_id`))) % 4 = 0 " +
      "and accepted_at <= fromUnixTimestamp64Milli(3601000, 'UTC'))",
  )
})

it('carries over all of a partition that is empty by now', () => {
  const empty = [stretch(2, 10, 10)]
  expect(goneFrom(empty, empty, new Map())).toEqual([{ partition: 2, until: Number.POSITIVE_INFINITY }])
})

it('carries over all of a partition whose head went away while it was read', () => {
  const gone = goneFrom([stretch(0, 0, 10), stretch(1, 3, 10)], [stretch(0, 4, 12), stretch(1, 3, 10)], new Map())
  expect(gone[0]).toEqual({ partition: 0, until: Number.POSITIVE_INFINITY })
  const condition = conditionOf(shops, 4, [{ partition: 0, until: Number.POSITIVE_INFINITY }])
  expect(condition).toBe("(kafkaMurmurHash(concat(org_id, '/', toString(`shop_id`))) % 4 = 0)")
})

it('names every table, and knows what a mistyped type was meant to be', () => {
  expect(tablesOf(catalogue, []).map(({ name }) => name)).toEqual([...catalogue.all.keys(), 'rejections', 'waiting'])
  expect(tablesOf(catalogue, ['rejections', 'shop-tags']).map(({ log }) => log)).toEqual([
    'weir.shop_tags_log',
    'weir.rejections_log',
  ])
  expect(() => tablesOf(catalogue, ['shop_tags'])).toThrow('there is no type "shop_tags": did you mean shop-tags?')
})
