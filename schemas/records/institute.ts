import { country, like, text, uuid, words } from '../field.js'
import { lifecycle, record } from '../record.js'

export const institute = record({
  type: 'institutes',
  id: 'institute_id',
  about: 'An educational institute.',
  fields: {
    institute_id: uuid('record identifier'),
    name: like(
      words('Kingsbridge University|Northgate College|Riverside Institute of Art|Eastfield Polytechnic'),
      text('what the institute is called'),
    ),
    region: country(),
    ...lifecycle,
  },
})
