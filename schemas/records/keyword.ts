import { like, text, uuid, words } from '../field.js'
import { lifecycle, record } from '../record.js'

export const keyword = record({
  type: 'keywords',
  id: 'keyword_id',
  about: 'A keyword that shops are found by.',
  fields: {
    keyword_id: uuid('record identifier'),
    name: like(
      words('coffee|textbooks|headphones|running shoes|pizza|haircut|train tickets|laptop|sushi|cinema|gym|stationery'),
      text('the keyword itself'),
    ),
    ...lifecycle,
  },
})
