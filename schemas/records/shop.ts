import { boolean, country, like, optional, text, uuid, words } from '../field.js'
import { lifecycle, record } from '../record.js'

export const shop = record({
  type: 'shops',
  id: 'shop_id',
  about: 'A shop that takes part.',
  fields: {
    shop_id: uuid('record identifier'),
    name: like(
      words(
        "Seven Corners|North Star|Blue Door|Old Mill|Harbour|Green Lane|Miller & Sons|O'Brien's",
        'Books|Coffee|Bikes|Records|Bakery|Optics|Shoes, Bags|Games',
      ),
      text('what the shop is called'),
    ),
    region: country(),
    is_public: optional(like({ any: true }, boolean('whether the shop is shown publicly'))),
    ...lifecycle,
  },
})
