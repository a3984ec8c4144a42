import { reference, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const shopTag = record({
  type: 'shop-tags',
  id: 'shop_tag_id',
  about: 'A tag on a shop.',
  sampled: { each: 2 },
  fields: {
    shop_tag_id: uuid('record identifier'),
    shop_id: reference('shops'),
    tag_id: reference('tags'),
    ...lifecycle,
  },
})
