import type { MartParts } from './mart.js'

// Marts that are kept are made anew in parts: a part is a day, or those customers whose ids have the same hash.

/** In place of a part: up to when everything that was stored is in the kept rows, and when all parts were last made at once. */
export const throughMark = -2_147_483_648
export const wholeMark = -2_147_483_647

export const byDay: MartParts = {
  of: 'toInt32(day)',
  from: { transactions: 'toInt32(toDate32(ifNull(created, accepted_at)))' },
}

// So many that a few hundred customers who bought something leave most parts as they are.
const customerParts = 4096
const ofCustomer = (id: string): string => `toInt32(cityHash64(${id}) % ${customerParts})`

export const byCustomer: MartParts = {
  of: ofCustomer('customer_id'),
  from: {
    customers: ofCustomer('customer_id'),
    'student-favourites': ofCustomer('customer_id'),
    // Transactions without a student are no customer's.
    transactions: `ifNull(${ofCustomer('student_id')}, ${customerParts})`,
  },
}
