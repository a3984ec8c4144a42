import { count, day, type Mart, org, word } from './mart.js'

export const refusalsByDay: Mart = {
  name: 'refusals_by_day',
  about: 'What was refused, and why.',
  grain: 'a day, type and code with at least one refused record; for as long as rejections are kept',
  from: [],
  columns: {
    org_id: org,
    day: day('the day on which they were refused, in UTC'),
    type: word('the type of the records'),
    code: word('what is wrong with them, as the API calls it'),
    refused: count('how many refused records have a problem with this code; one with several codes counts at each'),
  },
  sql: (from) => `select org_id, toDate32(rejected_at) as day, type, code, count() as refused
from ${from('rejections')}
array join arrayDistinct(problems.code) as code
group by org_id, day, type, code`,
}
