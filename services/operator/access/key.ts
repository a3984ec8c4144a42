import { keyIdOf } from '#platform/api-key.js'

/** A key as it is kept: everything but its secret. */
export type Key = {
  key_id: string
  org: string
  /** null: all of them */
  scopes: string[] | null
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

export type KeyState = 'active' | 'expired' | 'revoked'

export const stateOf = (key: Pick<Key, 'expires_at' | 'revoked_at'>, now: Date): KeyState => {
  if (key.revoked_at) return 'revoked'
  return key.expires_at && key.expires_at <= now ? 'expired' : 'active'
}

/** Whoever has found a leaked key holds its text, not its id: both will do. */
export const readKeyId = (given: string): string => keyIdOf(given) ?? given
