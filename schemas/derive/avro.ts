import type { Field } from '../field.js'
import { columnsOf, type RecordType } from '../record.js'
import {
  acceptedTopic,
  avroNameOf,
  erasuresTopic,
  rejectedTopic,
  submittedTopic,
  verdictsTopic,
  waitingTopic,
} from './names.js'

export type AvroField = { name: string; type: AvroSchema; [key: string]: unknown }
export type AvroSchema = string | { [key: string]: unknown } | AvroSchema[]

export const submittedSchema = (type: RecordType): AvroSchema => ({
  type: 'record',
  name: avroNameOf(type.type),
  namespace: 'weir.submitted',
  doc: `One batch of ${type.type}, as one organisation sent it.`,
  fields: [
    ...origin,
    field('batch', 'int', 'number of this batch in its request, from 1'),
    field('batches', 'int', 'how many batches the request was cut into'),
    field('first_index', 'int', "index of the batch's first record in the request"),
    field('submitted_at', timestamp),
    field('body_sha256', 'bytes', "SHA-256 of the request's body"),
    field('records', {
      type: 'array',
      items: {
        type: 'record',
        name: `${avroNameOf(type.type)}Record`,
        fields: [
          field('index', 'int', 'place in the batch'),
          field('keyed_sha256', ['null', 'bytes'], 'set where the record is taken once only', null),
          ...columnFields(type),
        ],
      },
    }),
    field('refusals', { type: 'array', items: refusal('Refusal') }, 'records that the edge refused'),
    field('gathered', 'boolean', 'whether each record came in a request of its own, as interactions do', false),
    field('keyed_requests', keyedRequests, 'those of the gathered records that came with an Idempotency-Key', []),
    field('wait_until', ['null', timestamp], 'until when records wait for references that are missing', null),
    field('resumed', resumed, 'where records that waited, and are decided anew, came from', []),
    field('key_id', ['null', 'string'], 'id of the API key that it was sent with', null),
  ],
})

export const acceptedSchema = (type: RecordType): AvroSchema => ({
  type: 'record',
  name: avroNameOf(type.type),
  namespace: 'weir.accepted',
  doc: type.about,
  fields: [
    ...origin,
    field('accepted_at', timestamp, 'when the record was accepted'),
    field('version', 'long', 'grows with every write of the same id: the highest is the current one'),
    ...columnFields(type),
  ],
})

/** The type's own fields, with which a submitted record and an accepted event end: integrity copies their bytes. */
export const columnFields = (type: RecordType): AvroField[] => Object.entries(columnsOf(type)).map(toAvroField)

export const rejectedSchema = (): AvroSchema => ({
  type: 'record',
  name: 'Rejected',
  namespace: 'weir',
  doc: 'A record that was refused, and why.',
  fields: [
    ...origin,
    field('rejected_at', timestamp),
    field('version', 'long', 'place in the submitted log'),
    field('type', 'string', 'the type it was sent as'),
    ...refusalFields('index in the records of the request; of an interaction, its place in the batch'),
  ],
})

export const verdictSchema = (): AvroSchema => ({
  type: 'record',
  name: 'Verdict',
  namespace: 'weir',
  doc: 'The decision on one batch.',
  fields: [
    ...origin,
    field('type', 'string'),
    field('batch', 'int'),
    field('batches', 'int'),
    field('first_index', 'int'),
    field('body_sha256', 'bytes'),
    field('decided_at', timestamp),
    field('accepted', 'int', 'how many records were accepted'),
    field('refused', {
      type: 'array',
      items: { type: 'record', name: 'Refused', fields: refusedFields('place in the batch') },
    }),
    field('waiting', waiting, 'records that wait for references that are missing', []),
  ],
})

export const waitingSchema = (): AvroSchema => ({
  type: 'record',
  name: 'Waiting',
  namespace: 'weir',
  doc: 'A record that waits for what it refers to, or has ended to.',
  fields: [
    ...origin,
    field('version', 'long', 'grows with every change: the highest of a batch_id and index is the current one'),
    field('type', 'string', 'the type it was sent as'),
    field('index', 'int', 'index in the records of the request; of an interaction, its place in the batch'),
    field('id', 'string'),
    field('state', 'string', 'waiting, accepted, refused, superseded or cancelled'),
    field('missing', { type: 'array', items: missing('Missing') }, 'what it waits for, or waited for at the end'),
    field('since', timestamp),
    field('until', timestamp),
    field('changed_at', timestamp),
  ],
})

export const erasedSchema = (): AvroSchema => ({
  type: 'record',
  name: 'Erased',
  namespace: 'weir',
  doc: 'A person was erased, and is to be erased by whoever was told of that person before.',
  fields: [
    field('org_id', 'string', 'the organisation whose customer or user it was'),
    field('erasure_id', 'string'),
    field(
      'mode',
      'string',
      'erase; or pseudonymise: then transactions and interactions stay, without the person; or organisation: all of it is deleted',
    ),
    field(
      'afterwards',
      'string',
      'later uploads that name the person are refused (refuse), or taken as those of somebody new (new)',
    ),
    field('erased_at', timestamp),
    field('salt', 'string', 'in hexadecimal digits'),
    field(
      'ids_sha256',
      { type: 'array', items: 'string' },
      'of each id of the person, UUIDs in lower case: SHA-256 of the bytes of the salt followed by the id, in hexadecimal digits',
    ),
  ],
})

/** Every topic's value schema. */
export const schemasByTopic = (types: Iterable<RecordType>): Map<string, AvroSchema> =>
  new Map([
    ...[...types].flatMap((type): [string, AvroSchema][] => [
      [submittedTopic(type.type), submittedSchema(type)],
      [acceptedTopic(type.type), acceptedSchema(type)],
    ]),
    [rejectedTopic, rejectedSchema()],
    [verdictsTopic, verdictSchema()],
    [waitingTopic, waitingSchema()],
    [erasuresTopic, erasedSchema()],
  ])

const timestamp = { type: 'long', logicalType: 'timestamp-millis' }

/** `fallback` is what readers take where an older writer has left the field out. */
const field = (name: string, type: AvroSchema, doc = '', fallback?: unknown): AvroField => ({
  name,
  type,
  ...(doc && { doc }),
  ...(fallback !== undefined && { default: fallback }),
})

const origin = [
  field('org_id', 'string', 'the organisation that sent it'),
  field('request_id', 'string', 'the request it came in'),
  field('batch_id', 'string', 'the batch it came in'),
]

const refusedFields = (indexDoc: string) => [
  field('index', 'int', indexDoc),
  field('id', ['null', 'string'], 'what was given as its id', null),
  field('problems', {
    type: 'array',
    items: {
      type: 'record',
      name: 'Problem',
      fields: [
        field('field', ['null', 'string'], '', null),
        field('code', 'string', 'stable: branch on this'),
        field('message', 'string', 'for people'),
      ],
    },
  }),
]

const refusalFields = (indexDoc: string) => [
  ...refusedFields(indexDoc),
  field('record', 'string', 'the record as JSON'),
  field('truncated', 'boolean', 'whether the record was too long and is cut off', false),
]

const refusal = (name: string) => ({ type: 'record', name, fields: refusalFields('place in the batch') })

const keyedRequests = {
  type: 'array',
  items: {
    type: 'record',
    name: 'KeyedRequest',
    fields: [
      field('index', 'int', 'place in the batch'),
      field('request_id', 'string', 'the request that the record came in, always the same for the same key'),
    ],
  },
}

const missing = (name: string) => ({
  type: 'record',
  name,
  fields: [
    field('field', 'string', 'the field that refers to it'),
    field('type', 'string', 'the type of the missing record'),
    field('id', 'string', 'its id'),
  ],
})

const resumed = {
  type: 'array',
  items: {
    type: 'record',
    name: 'Resumed',
    fields: [
      field('index', 'int', 'place in this batch'),
      field('request_id', 'string', 'the request it came in'),
      field('batch_id', 'string', 'the batch it came in'),
      field('place', 'int', 'its place in that batch'),
      field('request_index', 'int', 'its index in the records of that request'),
      field('version', 'long', 'the version of that place'),
      field('since', timestamp),
      field('until', timestamp),
    ],
  },
}

const waiting = {
  type: 'array',
  items: {
    type: 'record',
    name: 'WaitingRecord',
    fields: [
      field('index', 'int', 'place in the batch'),
      field('id', 'string'),
      field('for', { type: 'array', items: missing('MissingRecord') }),
      field('until', timestamp),
    ],
  },
}

const toAvroField = ([name, declared]: [string, Field]): AvroField =>
  declared.required
    ? field(name, toAvroType(declared), declared.about)
    : field(name, ['null', toAvroType(declared)], declared.about, null)

const toAvroType = (declared: Field): AvroSchema => {
  switch (declared.kind) {
    // Ids have no logical type: Python's readers would turn them into objects, which are not equal to any string.
    case 'uuid':
    case 'reference':
    case 'item':
    case 'text':
    case 'country':
    case 'choice':
      return 'string'
    case 'number':
      return 'double'
    case 'boolean':
      return 'boolean'
    case 'instant':
    case 'moment':
      return timestamp
    case 'date':
      return { type: 'int', logicalType: 'date' }
    default:
      return declared satisfies never
  }
}
