import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { linksOf } from '#schemas/derive/for-analysts/model-links.js'
import { modelPicture } from '#schemas/derive/for-analysts/model-picture.js'
import { viewOf } from '#schemas/derive/names.js'
import { marts } from '#schemas/marts/all.js'

const linksOfType = (name: string) =>
  [...catalogue.all.values()].flatMap((type) => (type.type === name ? linksOf(type, catalogue) : []))

it('finds references, and ids of other records that nobody checks', () => {
  expect(linksOfType('transactions')).toEqual([
    { field: 'shop_id', to: 'shops', isChecked: true },
    { field: 'student_id', to: 'customers', isChecked: false },
    { field: 'offer_id', to: 'offers', isChecked: false },
    { field: 'branch_id', to: 'branches', isChecked: false },
  ])
  expect(linksOfType('interactions').filter(({ field }) => field === 'item_id')).toContainEqual({
    ...{ field: 'item_id', to: 'tags', isChecked: true },
    when: { field: 'item_type', is: 'TAG' },
  })
  expect(linksOfType('shops')).toEqual([])
})

it('draws each type, each link and each mart', () => {
  const svg = modelPicture(catalogue)
  const links = [...catalogue.all.values()].flatMap((type) => linksOf(type, catalogue))
  // One more of each kind in the legend.
  expect(svg.match(/<path class="checked"/g)).toHaveLength(links.filter(({ isChecked }) => isChecked).length + 1)
  expect(svg.match(/<path class="loose"/g)).toHaveLength(links.filter(({ isChecked }) => !isChecked).length + 1)
  expect(svg.match(/<circle/g)).toHaveLength(marts.flatMap(({ from }) => from).length)
  for (const name of [...[...catalogue.all.keys()].map(viewOf), ...marts.map((mart) => mart.name)])
    expect(svg).toContain(`>${name}</text>`)
  expect(svg).not.toContain('NaN')
})
