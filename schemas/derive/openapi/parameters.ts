import type { Schema } from './record-schema.js'

export const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Makes a repeated request the same request: same ids, same answer, one effect; with another body it is a 409. A key is remembered for at least 24 hours, and for as long as what was decided can be looked up.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
}

export const prefer = {
  name: 'Prefer',
  in: 'header',
  description:
    '`respond-async` (RFC 7240): the answer is a 202 as soon as the records are safely stored, and its `Location` tells what becomes of them. With `wait=10` beside it, the outcome is waited for, up to so many seconds. Other preferences are ignored.',
  schema: { type: 'string', pattern: '^[\\x20-\\x7e]{0,200}$', examples: ['respond-async', 'respond-async, wait=10'] },
}

/** What a key must allow, in words. */
export const scoped = (...scopes: string[]): string => `Needs a key with the scope \`${scopes.join('` or `')}\`.`

export const inQuery = (name: string, description: string, schema: Schema): Schema => ({
  name,
  in: 'query',
  description,
  schema,
})

export const dryRun = inQuery(
  'dry_run',
  'With `true`: all checks and the same answer, but no effect. Nothing is kept, and no Idempotency-Key is used up.',
  { type: 'boolean', default: false },
)
