/** Why a record was refused. The codes are stable: clients branch on them. */
export const problemCodes = [
  'missing_field',
  'unknown_field',
  'wrong_type',
  'bad_format',
  'out_of_range',
  'not_one_of',
  'unknown_reference',
  'too_many_waiting',
  'overtaken',
  'idempotency_conflict',
  'undecodable',
  'unreadable',
  'person_erased',
] as const

export type ProblemCode = (typeof problemCodes)[number]

/** `field` is null where the problem is the record as a whole. */
export type Problem = { field: string | null; code: ProblemCode; message: string }

/** A record's place in its batch, and what is wrong with it. `id` is the text that was given as its id, if any was. */
export type Refused = { index: number; id: string | null; problems: Problem[] }
