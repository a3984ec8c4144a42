import { text, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const keyword = record({
  type: 'keywords',
  id: 'keyword_id',
  about: 'A keyword that shops are found by.',
  fields: { keyword_id: uuid('record identifier'), name: text('the keyword itself'), ...lifecycle },
})
