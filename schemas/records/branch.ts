import { country, number, optional, reference, text, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const branch = record({
  type: 'branches',
  id: 'branch_id',
  about: 'A place where a shop does business.',
  fields: {
    branch_id: uuid('record identifier'),
    shop_id: reference('shops'),
    name: text('what the branch is called'),
    region: country(),
    latitude: optional(number({ min: -90, max: 90 }, 'degrees north of the equator')),
    longitude: optional(number({ min: -180, max: 180 }, 'degrees east of Greenwich')),
    ...lifecycle,
  },
})
