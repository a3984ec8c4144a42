import type { Schema } from './record-schema.js'

export const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes a repeated request the same request: same ids, same answer, one effect.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
}
/** What a key must allow, in words. */
export const scoped = (...scopes: string[]): string => `Needs a key with the scope \`${scopes.join('` or `')}\`.`

export const inQuery = (name: string, description: string, schema: Schema): Schema => ({
  name,
  in: 'query',
  description,
  schema,
})
