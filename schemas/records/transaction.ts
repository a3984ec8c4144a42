import { country, like, number, optional, reference, text, uuid, words } from '../field.js'
import { lifecycle, record } from '../record.js'

export const transaction = record({
  type: 'transactions',
  id: 'transaction_id',
  about: 'A purchase in a shop.',
  sampled: { of: 'customers', each: 3 },
  fields: {
    transaction_id: uuid('record identifier'),
    shop_id: reference('shops'),
    region: country(),
    savings: like({ from: 0, to: 10, step: 0.01 }, number({ min: 0, isSummed: true }, 'how much less was paid')),
    amount: like({ from: 1, to: 120, step: 0.01 }, number({ above: 0, isSummed: true }, 'how much was paid')),
    student_id: optional(like({ idOf: 'customers' }, uuid('purchasing student'))),
    offer_id: optional(like({ idOf: 'offers' }, uuid('offer used'))),
    branch_id: optional(uuid('branch location')),
    source: optional(like(words('online|in-store'), text('origin of the transaction, for example online or in-store'))),
    ...lifecycle,
    discount_name: optional(text('what the discount is called')),
    discount_type: optional(text('for example percentage or fixed')),
    discount_value: optional(
      number({ isSummed: true }, 'how much the discount takes off, in the unit that discount_type says'),
    ),
  },
})
