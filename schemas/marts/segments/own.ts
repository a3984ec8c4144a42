import { count, day, instant, type Mart, org, text, word } from '../mart.js'

// An organisation's own segments, made with "weir segments create": each has a condition, and whoever it holds for is in it.

export const ownSegments: Mart = {
  name: 'own_segments',
  about: 'The segments that an organisation has made for itself. Who is in one: segment_members.',
  grain: 'a segment that is not dropped',
  from: [],
  columns: {
    org_id: org,
    segment: word('its name'),
    version: count('how often its condition was set'),
    condition: text('who is in it, by the columns of customers_overview and of customer_segments'),
    about: text('what it is for'),
    created_at: instant('since when it has this condition'),
  },
  written: ['condition', 'about'],
  sql: (
    from,
  ) => `select org_id, segment, newest.1 as version, newest.2 as condition, newest.3 as about, newest.4 as created_at
from (
  select org_id, segment, argMax((version, condition, about, created_at, is_dropped), version) as newest
  from ${from('own_segments_log')}
  group by org_id, segment
)
where not newest.5`,
}

export const segmentSizes: Mart = {
  name: 'segment_sizes',
  about: 'How many customers were in each segment, day by day: in those that Weir names, and in own ones.',
  grain: 'a segment and a day on which it was counted',
  from: [],
  columns: {
    org_id: org,
    day: day('the day, in UTC; it is counted soon after its beginning'),
    segment: word('the segment'),
    version: count('of an own one, how often its condition had been set by then; 0 for those that Weir names'),
    members: count('how many customers were in it'),
  },
  sql: (
    from,
  ) => `select org_id, toDate32(at) as day, segment, argMax(log.version, at) as version, argMax(log.members, at) as members
from ${from('segment_sizes_log')} as log
group by org_id, day, segment`,
}
