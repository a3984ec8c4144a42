import { describe, expect, it } from 'vitest'
import { createKeyText } from '#ledger/key-text.js'
import { stateOf } from '#ledger/keys.js'
import { catalogue } from '#schemas/catalogue.js'
import { scopesOf } from '#schemas/derive/scopes.js'
import { noSuchKey, readKeyId, readScopes, writeScopes } from '../../../../services/operator/access/keys.js'

describe('scopes', () => {
  it('are read from a list, each once', () =>
    expect(readScopes('shops:write, tags:write,shops:write', catalogue)).toEqual(['shops:write', 'tags:write']))

  it('have a neighbour where one is mistyped', () =>
    expect(() => readScopes('shops:write,shop:write', catalogue)).toThrow('"shop:write": did you mean shops:write?'))

  it('are all named where none is near', () =>
    expect(() => readScopes('everything', catalogue)).toThrow('known are all, data:write, shops:write'))

  it('are never an empty list', () => expect(() => readScopes(' ,', catalogue)).toThrow('names no scope'))

  it('are written out where a key has all', () => {
    expect(writeScopes(null, catalogue)).toEqual(scopesOf(catalogue).filter((scope) => scope !== 'keys:manage'))
    expect(writeScopes(['tags:write'], catalogue)).toEqual(['tags:write'])
  })
})

describe('a key', () => {
  const now = new Date('2026-01-01T00:00:00Z')
  const past = new Date(now.getTime() - 1)
  const future = new Date(now.getTime() + 1)

  it.each([
    [{ expires_at: null, revoked_at: null }, 'active'],
    [{ expires_at: future, revoked_at: null }, 'active'],
    [{ expires_at: now, revoked_at: null }, 'expired'],
    [{ expires_at: past, revoked_at: past }, 'revoked'],
    [{ expires_at: null, revoked_at: future }, 'revoked'],
  ])('with %j is %s', (key, state) => expect(stateOf(key, now)).toBe(state))

  it('is known by its id or by its text', () => {
    const { key, keyId } = createKeyText()
    expect(readKeyId(key)).toBe(keyId)
    expect(readKeyId(keyId)).toBe(keyId)
  })

  it('that is unknown is not repeated where it may be a secret', () => {
    const { key, keyId } = createKeyText()
    expect(noSuchKey(keyId).message).toContain(keyId)
    expect(noSuchKey(`${key}x`).message).not.toContain(key.slice(-20))
  })
})
