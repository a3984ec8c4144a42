import { readPersons } from '../../derive/scopes.js'
import { derivedId } from '../../uuid.js'
import { endpoint } from '../endpoint.js'
import * as v from '../values.js'

// Everything that is kept about one person, for the one who answers a request for access (Art. 15 GDPR).

const keptRecord = v.named('KeptRecord', {
  type: v.recordType,
  id: v.text(),
  version: v.count('grows with each version of a record'),
  is_current: v.flag('whether this is the newest version; others are former ones'),
  accepted_at: v.instant,
  is_deleted: v.flag('whether this version deletes the record'),
  record: v.anyObject('every field of the type'),
})

const keptRefusal = v.named('KeptRefusal', {
  type: v.recordType,
  id: v.givenId,
  request_id: v.uuid,
  rejected_at: v.instant,
  problems: v.problems,
  record: v.anything('as it was given; where `truncated`, the text of its beginning'),
  truncated: v.flag('whether the record was too large to be kept whole'),
})

const keptWait = v.named('KeptWait', {
  type: v.recordType,
  id: v.uuid,
  request_id: v.uuid,
  since: v.instant,
  until: v.instant,
  for: v.list(v.reference, 'what it waits for'),
  record: v.anyObject('the fields that it has'),
})

const derivedFact = v.named('DerivedFact', {
  from: v.text('the mart, or `own_segments`: the segments of your own that the customer is or was in'),
  values: v.anyObject('by the names of the columns; money is text, so that it stays exact'),
})

const personExport = v.named(
  'PersonExport',
  {
    person: v.object({
      id: v.text('as it was asked for'),
      customer_ids: v.list(v.text(), 'records that name one of these are here'),
      user_ids: v.list(v.text(), 'and those that name one of these'),
      not_followed: v.list(
        v.object({ user_id: v.text(), customers: v.count('how many have it, or had it') }),
        'user_ids that several customers share: what is kept under them cannot be said to be about one of these',
      ),
    }),
    exported_at: v.instant,
    records: v.list(keptRecord, 'every version that is kept of every record that names the person'),
    refused: v.list(keptRefusal, 'refused records that name the person, the oldest first'),
    waiting: v.list(keptWait, 'records that name the person, and wait for what they refer to'),
    derived: v.list(derivedFact, 'what was made of these records'),
    elsewhere: v.list(
      v.object({ where: v.text(), what: v.text(), kept: v.text('for how long') }),
      'where copies may be that an export cannot read',
    ),
  },
  {
    examples: [
      {
        person: {
          id: derivedId('example', 'customers'),
          customer_ids: [derivedId('example', 'customers')],
          user_ids: [],
          not_followed: [],
        },
        exported_at: '2026-01-31T12:00:00.000Z',
        records: [],
        refused: [],
        waiting: [],
        derived: [],
        elsewhere: [{ where: 'backups (`weir backup`)', what: 'everything', kept: 'until you delete them' }],
      },
    ],
  },
)

export const exportPerson = endpoint('GET', '/v1/persons/{id}/export', 'export-person', 'persons', {
  summary: 'Everything that is kept about a person',
  about:
    'Of your own organisation. A person is a customer, by `customer_id` (a `student_id` is one), or a user, by `user_id`; in the address `/` and other signs of an id are written as `%2F` and so on, and an id longer than 100 characters can only be exported by an operator (`weir persons export`). A customer’s `user_id` is followed where that customer alone has it. Who exported whom is in the audit. The answer may be long, and is sent while it is read: one that was cut off has no end. With `Accept: text/csv` the same as CSV, a line for each value.',
  scope: readPersons,
  parameters: { id: v.text('a customer_id, student_id or user_id') },
  answers: {
    200: {
      about: 'Everything that is kept.',
      schema: personExport,
      content: {
        'application/json': { schema: personExport },
        'text/csv': {
          schema: v.text('part, type, id, version, time, field and value, then a line for each value'),
          example:
            'part,type,id,version,time,field,value\nrecord,customers,8e2ad9a0-5c5d-5a44-9d37-bd2d2e1f5c1f,8192,2026-01-31T12:00:00.000Z,region,GB\n',
        },
      },
    },
  },
})
