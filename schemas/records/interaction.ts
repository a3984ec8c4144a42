import { choice, instant, item, like, moment, optional, reference, text, uuid, words } from '../field.js'
import { record } from '../record.js'
import { cities } from './branch.js'

export const interaction = record({
  type: 'interactions',
  id: 'interaction_id',
  about: 'One interaction of a user with a tag, an offer, a shop or a keyword.',
  stream: { topic: 'weir.interactions', timesWider: 3, keptDays: 365 },
  sampled: { each: 2 },
  assigned: { interaction_id: uuid('given by the service'), recorded_at: instant('when the service took it in') },
  fields: {
    interaction_type: choice(['FILTER_CLICK', 'SHARE', 'PAGE_VIEW', 'DISCOUNT_CODE'], 'what the user did'),
    user_id: optional(text('pseudonymous user identifier')),
    student_id: optional(like({ any: true }, reference('customers', 'an existing customer'))),
    item_type: choice(['TAG', 'OFFER', 'SHOP', 'KEYWORD'], 'the kind of thing it was done with'),
    item_id: item('item_type', { TAG: 'tags', OFFER: 'offers', SHOP: 'shops', KEYWORD: 'keywords' }),
    city: optional(like(words(cities), text('where the interaction occurred'))),
    country: optional(like(words('GB'), text('where the interaction occurred'))),
    platform: optional(like({ any: true }, choice(['ANDROID', 'IOS', 'WEB', 'OTHER'], 'where the user was'))),
    event_timestamp: moment('when it happened'),
    source: optional(
      like(
        { any: true },
        choice(['SERVICE'], 'SERVICE when it came from a recommendation response, null for browsing'),
      ),
    ),
    recommendation_id: optional(uuid('the recommendation that it came from')),
  },
})
