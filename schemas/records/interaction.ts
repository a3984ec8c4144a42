import {
  choice,
  impersonal,
  instant,
  item,
  like,
  moment,
  naming,
  optional,
  personal,
  reference,
  text,
  uuid,
  words,
} from '../field.js'
import { record } from '../record.js'
import { cities } from './branch.js'

export const interaction = record({
  type: 'interactions',
  id: 'interaction_id',
  about: 'One interaction of a user with a tag, an offer, a shop or a keyword.',
  stream: { topic: 'weir.interactions', timesWider: 3, keptDays: 365 },
  sampled: { each: 2 },
  assigned: {
    interaction_id: impersonal(uuid('given by the service')),
    recorded_at: impersonal(instant('when the service took it in')),
  },
  fields: {
    interaction_type: impersonal(choice(['FILTER_CLICK', 'SHARE', 'PAGE_VIEW', 'DISCOUNT_CODE'], 'what the user did')),
    user_id: naming('user', optional(text('pseudonymous user identifier'))),
    student_id: naming('customer', optional(like({ any: true }, reference('customers', 'an existing customer')))),
    item_type: impersonal(choice(['TAG', 'OFFER', 'SHOP', 'KEYWORD'], 'the kind of thing it was done with')),
    item_id: impersonal(item('item_type', { TAG: 'tags', OFFER: 'offers', SHOP: 'shops', KEYWORD: 'keywords' })),
    city: personal(optional(like(words(cities), text('where the interaction occurred')))),
    country: personal(optional(like(words('GB'), text('where the interaction occurred')))),
    platform: impersonal(
      optional(like({ any: true }, choice(['ANDROID', 'IOS', 'WEB', 'OTHER'], 'where the user was'))),
    ),
    event_timestamp: impersonal(moment('when it happened')),
    source: impersonal(
      optional(
        like(
          { any: true },
          choice(['SERVICE'], 'SERVICE when it came from a recommendation response, null for browsing'),
        ),
      ),
    ),
    recommendation_id: impersonal(optional(uuid('the recommendation that it came from'))),
  },
})
