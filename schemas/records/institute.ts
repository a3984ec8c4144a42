import { country, text, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const institute = record({
  type: 'institutes',
  id: 'institute_id',
  about: 'An educational institute.',
  fields: {
    institute_id: uuid('record identifier'),
    name: text('what the institute is called'),
    region: country(),
    ...lifecycle,
  },
})
