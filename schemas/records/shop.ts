import { boolean, country, optional, text, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const shop = record({
  type: 'shops',
  id: 'shop_id',
  about: 'A shop that takes part.',
  fields: {
    shop_id: uuid('record identifier'),
    name: text('what the shop is called'),
    region: country(),
    is_public: optional(boolean('whether the shop is shown publicly')),
    ...lifecycle,
  },
})
