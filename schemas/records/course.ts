import { like, text, uuid, words } from '../field.js'
import { lifecycle, record } from '../record.js'

export const course = record({
  type: 'courses',
  id: 'course_id',
  about: 'A course of study.',
  limit: 1000,
  raisedBy: { setting: 'COURSES_LIMIT', to: 5000 },
  fields: {
    course_id: uuid('record identifier'),
    name: like(
      words('Economics|Physics|History|Nursing|Law|Computer Science|Fine Art|Biology|Music'),
      text('what the course is called'),
    ),
    ...lifecycle,
  },
})
