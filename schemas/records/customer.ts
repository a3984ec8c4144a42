import { country, date, optional, text, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const customer = record({
  type: 'customers',
  id: 'customer_id',
  about: 'A customer. A student is a customer: every student_id is a customer_id.',
  fields: {
    customer_id: uuid('record identifier'),
    user_id: uuid('user identifier'),
    region: country(),
    birthdate: optional(date('date of birth')),
    institute_id: optional(uuid('educational institute')),
    course_id: optional(uuid('course')),
    gender: optional(text('as the organisation records it')),
    ...lifecycle,
  },
})
