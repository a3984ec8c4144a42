import { country, impersonal, like, naming, number, optional, reference, text, uuid, words } from '../field.js'
import { lifecycle, record } from '../record.js'

export const transaction = record({
  type: 'transactions',
  id: 'transaction_id',
  about: 'A purchase in a shop.',
  sampled: { of: 'customers', each: 3 },
  fields: {
    transaction_id: impersonal(uuid('record identifier')),
    shop_id: impersonal(reference('shops')),
    region: impersonal(country()),
    savings: impersonal(
      like({ from: 0, to: 10, step: 0.01 }, number({ min: 0, isSummed: true }, 'how much less was paid')),
    ),
    amount: impersonal(
      like({ from: 1, to: 120, step: 0.01 }, number({ above: 0, isSummed: true }, 'how much was paid')),
    ),
    student_id: naming('customer', optional(like({ idOf: 'customers' }, uuid('purchasing student')))),
    offer_id: impersonal(optional(like({ idOf: 'offers' }, uuid('offer used')))),
    branch_id: impersonal(optional(uuid('branch location'))),
    source: impersonal(
      optional(like(words('online|in-store'), text('origin of the transaction, for example online or in-store'))),
    ),
    ...lifecycle,
    discount_name: impersonal(optional(text('what the discount is called'))),
    discount_type: impersonal(optional(text('for example percentage or fixed'))),
    discount_value: impersonal(
      optional(number({ isSummed: true }, 'how much the discount takes off, in the unit that discount_type says')),
    ),
  },
})
