import { country, text, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const category = record({
  type: 'categories',
  id: 'category_id',
  about: 'A category that shops are put into.',
  fields: {
    category_id: uuid('record identifier'),
    name: text('what the category is called'),
    region: country(),
    ...lifecycle,
  },
})
