import { reference, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const shopKeyword = record({
  type: 'shop-keywords',
  id: 'shop_keyword_id',
  about: 'A keyword of a shop.',
  sampled: { each: 2 },
  fields: {
    shop_keyword_id: uuid('record identifier'),
    shop_id: reference('shops'),
    keyword_id: reference('keywords'),
    ...lifecycle,
  },
})
