import { text, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const tag = record({
  type: 'tags',
  id: 'tag_id',
  about: 'A tag that shops carry.',
  fields: { tag_id: uuid('record identifier'), name: text('the tag itself'), ...lifecycle },
})
