import { country, like, number, optional, reference, text, uuid, words } from '../field.js'
import { lifecycle, record } from '../record.js'

// Words for sample data, here and of interactions.
export const cities = 'London|Leeds|Bristol|Dublin|Cork|Berlin|Lyon|Cardiff|Glasgow|York'

export const branch = record({
  type: 'branches',
  id: 'branch_id',
  about: 'A place where a shop does business.',
  sampled: { each: 2 },
  fields: {
    branch_id: uuid('record identifier'),
    shop_id: reference('shops'),
    name: like(
      words(cities, 'High Street|Station Road|Market Square, north side|Riverside|Old Town|Campus'),
      text('what the branch is called'),
    ),
    region: country(),
    latitude: optional(
      like({ from: 50, to: 56, step: 0.0001 }, number({ min: -90, max: 90 }, 'degrees north of the equator')),
    ),
    longitude: optional(
      like({ from: -5, to: 1, step: 0.0001 }, number({ min: -180, max: 180 }, 'degrees east of Greenwich')),
    ),
    ...lifecycle,
  },
})
