import { reference, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const studentFavourite = record({
  type: 'student-favourites',
  id: 'student_favourite_id',
  about: 'A shop that a student marked as a favourite.',
  fields: {
    student_favourite_id: uuid('record identifier'),
    customer_id: reference('customers'),
    shop_id: reference('shops'),
    ...lifecycle,
  },
})
