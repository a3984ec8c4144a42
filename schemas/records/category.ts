import { country, text, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const category = record({
  type: 'categories',
  id: 'category_id',
  about: 'A category that shops are put into.',
  fields: { category_id: uuid(), name: text(), region: country(), ...lifecycle },
})
