import { boolean, country, instant, like, number, optional, reference, text, uuid, words } from '../field.js'
import { lifecycle, record } from '../record.js'

export const offer = record({
  type: 'offers',
  id: 'offer_id',
  about: 'An offer of a shop.',
  sampled: { each: 3 },
  fields: {
    offer_id: uuid('record identifier'),
    shop_id: reference('shops'),
    name: like(
      words('Ten off|Two for one|Student Tuesday|Free coffee with lunch|The "big" one|Winter sale, everything'),
      text('what the offer is called'),
    ),
    type: like(words('percentage|percentage|fixed'), text('for example percentage or fixed')),
    value: like(
      { from: 5, to: 50, step: 5 },
      number({ above: 0, isSummed: true }, 'how much it takes off, in the unit that type says'),
    ),
    region: country(),
    allowed_from: optional(like({ lastDays: 300 }, instant('start of validity'))),
    allowed_to: optional(instant('end of validity')),
    // As many branches as one upload brings: 5000 ids of 36 characters, with a comma and perhaps a space behind each.
    allowed_branches: optional(text('comma-separated branch ids', { longest: 5000 * 38 })),
    allowed_days: optional(like(words('Monday,Tuesday|Saturday,Sunday'), text('comma-separated day names'))),
    ...lifecycle,
    is_enabled: optional(like({ any: true }, boolean('whether the offer is currently enabled'))),
  },
})
