import { boolean, country, optional, text, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const shop = record({
  type: 'shops',
  id: 'shop_id',
  about: 'A shop that takes part.',
  fields: {
    shop_id: uuid(),
    name: text(),
    region: country(),
    is_public: optional(boolean()),
    ...lifecycle,
  },
})
