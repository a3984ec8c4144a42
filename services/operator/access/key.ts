import { keyIdOf } from '#ledger/key-text.js'
import type { Key } from '#ledger/keys.js'

export type KeyState = 'active' | 'expired' | 'revoked'

export const stateOf = (key: Pick<Key, 'expires_at' | 'revoked_at'>, now: Date): KeyState => {
  if (key.revoked_at) return 'revoked'
  return key.expires_at && key.expires_at <= now ? 'expired' : 'active'
}

/** Whoever has found a leaked key holds its text, not its id: both will do. */
export const readKeyId = (given: string): string => keyIdOf(given) ?? given
