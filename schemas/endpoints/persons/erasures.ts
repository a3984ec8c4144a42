import { erasePersons } from '../../derive/scopes.js'
import { derivedId } from '../../uuid.js'
import { answered, endpoint } from '../endpoint.js'
import { errorAnswer } from '../errors.js'
import * as v from '../values.js'

// Forgetting a person, with proof.

export const erasureModes = ['erase', 'pseudonymise'] as const
export type ErasureMode = (typeof erasureModes)[number]
export const erasureStates = ['running', 'done', 'failed'] as const

const counted = v.object({
  where: v.text('a topic, or a table'),
  count: v.count('messages or rows that name the person'),
})

const fields = {
  erasure_id: v.uuid,
  mode: v.oneOf(erasureModes),
  afterwards: v.oneOf(['refuse', 'new'], { description: 'what becomes of later uploads that name the person' }),
  dry_run: v.flag('whether it only counts'),
  status: v.oneOf(erasureStates, {
    description:
      '`failed`: it did not end within 24 hours, see `problem`. It is tried on every hour and becomes `done` once that is put right; asked for again, it is begun at once. A dry run is not tried on',
  }),
  step: v.text('what it does now, or did last'),
  asked_at: v.instant,
  ended_at: v.nullable(v.instant),
  found: v.nullable(v.list(counted), 'what there was of the person before anything was removed'),
  problem: v.nullable(v.text(), 'why it does not go on'),
}

const example = {
  erasure_id: derivedId('example', 'erasure'),
  mode: 'erase',
  afterwards: 'refuse',
  dry_run: false,
  status: 'done',
  step: 'done',
  asked_at: '2026-01-31T12:00:00.000Z',
  ended_at: '2026-01-31T12:01:05.000Z',
  found: [{ where: 'weir.accepted.customers', count: 2 }],
  problem: null,
}

const erasure = v.named('Erasure', fields, { examples: [example] })

const proof = v.object({
  report: v.text('what was read when it was done, and what was left: JSON, sign by sign as it was signed'),
  signature: v.text('of the bytes of `report`: Ed25519, in Base64'),
  public_key: v.text('what checks the signature: PEM'),
})

const erasureWithProof = v.named(
  'ErasureWithProof',
  { ...fields, proof: v.nullable(proof, 'null until it is done, and after a dry run, which removes nothing') },
  {
    examples: [
      {
        ...example,
        proof: {
          report: `{"erasure_id":"${example.erasure_id}","organisation":"acme","left":[]}`,
          signature: 'Bf7mQN1fe8TopZzXpLT5A8IyoAotNibqHYixEqKTH5JcRstYxuqtoUq58HgGZNxqEz/SdjZlnz+h+hE3HG2ACg==',
          public_key:
            '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAxjXaz2j0SQZkDtraaPwemCGBnBd80K9IJm6Ev/qCJaI=\n-----END PUBLIC KEY-----\n',
        },
      },
    ],
  },
)

export const createErasure = endpoint('POST', '/v1/erasures', 'create-erasure', 'persons', {
  summary: 'Forget a person',
  about:
    'Removes what is kept of a person from topics and tables, and proves it: with `erase` all records that name the person; with `pseudonymise` the transactions and interactions stay for sums, without the person. It takes a minute or more; look it up until `status` is `done` or `failed`. Asked again before it is done, the answer is the same erasure. With `dry_run` nothing is removed: `found` says what would be. A person is a customer (`customer_id`, `student_id`) or a user (`user_id`), as in `GET /v1/persons/{id}/export`. Nothing brings a person back.',
  scope: erasePersons,
  body: {
    schema: v.closed({
      person_id: v.text('a customer_id, student_id or user_id', {
        pattern: '^\\s{0,100}[^\\s\\x00][^\\x00]{0,899}$',
        refusal: 'person_id must be the id of a person (1 to 1000 characters)',
      }),
      mode: v.oneOf(erasureModes),
      dry_run: v.optional(v.flag('whether it only counts')),
      afterwards: v.optional(
        v.oneOf(['refuse', 'new'], {
          description:
            'what becomes of later uploads that name the person: they are refused (`refuse`, if nothing is said), or taken as records of somebody new',
        }),
      ),
    }),
    example: { person_id: derivedId('example', 'customers'), mode: 'erase' },
  },
  answers: { 202: { about: 'It is under way.', schema: erasure } },
})

export const listErasures = endpoint('GET', '/v1/erasures', 'list-erasures', 'persons', {
  summary: 'The erasures of your organisation, the newest first',
  about: 'At most 1000 of them.',
  scope: erasePersons,
  answers: answered('They name nobody.', v.object({ erasures: v.list(erasure) })),
})

export const readErasure = endpoint('GET', '/v1/erasures/{erasure_id}', 'read-erasure', 'persons', {
  summary: 'What became of an erasure, and its proof',
  about:
    'The proof is the report that was made when all was read again, with a signature. It names nobody, and can be checked without Weir: `weir erasures check`, or openssl (docs/persons.md). To read everything once more is for operators (`weir erasures prove`).',
  scope: erasePersons,
  parameters: { erasure_id: v.text('erasure_id of the erasure') },
  answers: { ...answered('As it is now.', erasureWithProof), 404: errorAnswer(404, 'There is no such erasure.') },
})
