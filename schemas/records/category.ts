import { country, like, text, uuid, words } from '../field.js'
import { lifecycle, record } from '../record.js'

export const category = record({
  type: 'categories',
  id: 'category_id',
  about: 'A category that shops are put into.',
  fields: {
    category_id: uuid('record identifier'),
    name: like(
      words('Food|Books|Clothing|Music|Sports|Travel|Health|Electronics|Home|Gifts'),
      text('what the category is called'),
    ),
    region: country(),
    ...lifecycle,
  },
})
