import { text, uuid } from '../field.js'
import { lifecycle, record } from '../record.js'

export const course = record({
  type: 'courses',
  id: 'course_id',
  about: 'A course of study.',
  limit: 1000,
  fields: { course_id: uuid(), name: text(), ...lifecycle },
})
