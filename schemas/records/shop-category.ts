import { country, reference, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const shopCategory = record({
  type: 'shop-categories',
  id: 'shop_category_id',
  about: 'A shop in a category.',
  fields: {
    shop_category_id: uuid('record identifier'),
    shop_id: reference('shops'),
    category_id: reference('categories'),
    region: country(),
    ...lifecycle,
  },
})
