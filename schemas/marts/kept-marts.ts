import { instant, type Mart, org, word } from './mart.js'
import { throughMark } from './parts.js'

export const martsAsOf: Mart = {
  name: 'marts_as_of',
  about: 'Of what moment the figures of a large organisation are; those that are not listed here are of this moment.',
  grain: 'a mart that is kept for the organisation',
  from: [],
  columns: {
    org_id: org,
    mart: word('the mart'),
    as_of: instant('what was stored before this moment is in the figures'),
  },
  sql: (from) => `select org_id, mart, toDateTime64(max(kept_at), 3, 'UTC') as as_of
from ${from('marts_kept')}
where part = ${throughMark} and kept_at > now() - interval 1 day
group by org_id, mart`,
}
