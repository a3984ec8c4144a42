import { boolean, country, instant, number, optional, reference, text, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const offer = record({
  type: 'offers',
  id: 'offer_id',
  about: 'An offer of a shop.',
  fields: {
    offer_id: uuid('record identifier'),
    shop_id: reference('shops'),
    name: text('what the offer is called'),
    type: text('for example percentage or fixed'),
    value: number({ above: 0 }, 'how much it takes off, in the unit that type says'),
    region: country(),
    allowed_from: optional(instant('start of validity')),
    allowed_to: optional(instant('end of validity')),
    // As many branches as one upload brings: 5000 ids of 36 characters, with a comma and perhaps a space behind each.
    allowed_branches: optional(text('comma-separated branch ids', { longest: 5000 * 38 })),
    allowed_days: optional(text('comma-separated day names')),
    ...lifecycle,
    is_enabled: optional(boolean('whether the offer is currently enabled')),
  },
})
