import { country, number, optional, reference, text, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const transaction = record({
  type: 'transactions',
  id: 'transaction_id',
  about: 'A purchase in a shop.',
  fields: {
    transaction_id: uuid('record identifier'),
    shop_id: reference('shops'),
    region: country(),
    savings: number({ min: 0 }, 'how much less was paid'),
    amount: number({ above: 0 }, 'how much was paid'),
    student_id: optional(uuid('purchasing student')),
    offer_id: optional(uuid('offer used')),
    branch_id: optional(uuid('branch location')),
    source: optional(text('origin of the transaction, for example online or in-store')),
    ...lifecycle,
    discount_name: optional(text('what the discount is called')),
    discount_type: optional(text('for example percentage or fixed')),
    discount_value: optional(number({}, 'how much the discount takes off, in the unit that discount_type says')),
  },
})
