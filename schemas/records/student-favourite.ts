import { impersonal, naming, reference, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const studentFavourite = record({
  type: 'student-favourites',
  id: 'student_favourite_id',
  about: 'A shop that a student marked as a favourite.',
  fields: {
    student_favourite_id: impersonal(uuid('record identifier')),
    customer_id: naming('customer', reference('customers')),
    shop_id: impersonal(reference('shops')),
    ...lifecycle,
  },
})
