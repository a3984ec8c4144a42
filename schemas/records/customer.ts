import { country, date, like, naming, optional, personal, text, uuid, words } from '../field.js'
import { lifecycle, record } from '../record.js'

export const customer = record({
  type: 'customers',
  id: 'customer_id',
  about: 'A customer. A student is a customer: every student_id is a customer_id.',
  fields: {
    customer_id: naming('customer', uuid('record identifier')),
    user_id: naming('user', uuid('user identifier')),
    region: personal(country()),
    birthdate: personal(optional(like({ from: Date.UTC(1985), to: Date.UTC(2007) }, date('date of birth')))),
    institute_id: personal(optional(like({ idOf: 'institutes' }, uuid('educational institute')))),
    course_id: personal(optional(like({ idOf: 'courses' }, uuid('course')))),
    gender: personal(optional(like(words('female|male|other'), text('as the organisation records it')))),
    ...lifecycle,
  },
})
