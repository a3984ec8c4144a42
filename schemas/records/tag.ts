import { like, text, uuid, words } from '../field.js'
import { lifecycle, record } from '../record.js'

export const tag = record({
  type: 'tags',
  id: 'tag_id',
  about: 'A tag that shops carry.',
  fields: {
    tag_id: uuid('record identifier'),
    name: like(
      words('vegan|student favourite|new|open late|local|second-hand|fair trade|last chance'),
      text('the tag itself'),
    ),
    ...lifecycle,
  },
})
