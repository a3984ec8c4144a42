import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Key, Manager } from '#ledger/keys.js'
import { ruleOnMaking, ruleOnOld, ruleOnRotating } from '#query/keys/rules.js'
import { catalogue } from '#schemas/catalogue.js'
import { allows, beyond, keptScopes, scopesOf } from '#schemas/derive/scopes.js'

const known = scopesOf(catalogue)
const someScopes = fc.option(fc.subarray(known, { minLength: 1 }))
const manager = (over: Partial<Manager> = {}): Manager => ({
  scopes: ['all', 'keys:manage'],
  expiresIn: null,
  activeKeys: 3,
  changes: 0,
  ...over,
})
const key: Key = {
  key_id: 'k',
  name: null,
  org: 'acme',
  scopes: ['shops:write'],
  created_at: new Date(0),
  expires_at: null,
  revoked_at: null,
  last_used_at: null,
  is_operator: false,
}

describe('scopes', () => {
  it('a key without scopes, or with all, has every one but keys:manage', () => {
    for (const scope of known)
      for (const scopes of [null, ['all']]) expect(allows(scopes, scope, catalogue)).toBe(scope !== 'keys:manage')
    expect(allows(['all', 'keys:manage'], 'keys:manage', catalogue)).toBe(true)
  })

  it('what a key may give allows nothing that the key itself is not allowed', () => {
    fc.assert(
      fc.property(someScopes, someScopes, (own, wanted) => {
        const isGiven = beyond(own, wanted, catalogue).length === 0
        const has = (scope: string) => allows(own, scope, catalogue)
        const gets = known.filter((scope) => allows(wanted, scope, catalogue))
        expect(isGiven && !gets.every(has)).toBe(false)
        if (beyond(own, own, catalogue).length === 0) expect(gets.every(has) || !isGiven).toBe(true)
        // However scopes are written, they allow the same.
        for (const scope of known)
          expect(allows(keptScopes(wanted), scope, catalogue)).toBe(allows(wanted, scope, catalogue))
      }),
    )
  })

  it.each([
    [['shops:write', 'keys:manage'], ['tags:write'], ['tags:write']],
    [['shops:write', 'keys:manage'], null, ['all']],
    [['data:write', 'keys:manage'], ['shops:write'], []],
    // Every type of today is not every type yet to come.
    [[...known.filter((scope) => scope !== 'data:write' && scope !== 'all')], ['data:write'], ['data:write']],
    [['all', 'keys:manage'], null, []],
    [['all', 'keys:manage'], ['keys:manage'], []],
    [null, ['keys:manage'], ['keys:manage']],
  ])('of %j, %j lacks %j', (own, wanted, lacking) => {
    expect(beyond(own, wanted, catalogue)).toEqual(lacking)
  })
})

describe('a key that a key makes', () => {
  const made = (own: Partial<Manager>, lifetime?: number) =>
    ruleOnMaking(manager(own), { scopes: null, lifetime }, catalogue)

  it('lives no longer than its maker', () => {
    expect(made({})).toEqual({ lifetime: null })
    expect(made({}, 5000)).toEqual({ lifetime: 5000 })
    expect(made({ expiresIn: 9000 })).toEqual({ lifetime: 9000 })
    expect(made({ expiresIn: 9000 }, 5000)).toEqual({ lifetime: 5000 })
    expect(made({ expiresIn: 9000 }, 10_000)).toMatchObject({ error: { status: 400 } })
  })

  it('that replaces another neither: a key cannot prolong itself', () => {
    const old = { ...key, expires_at: new Date(60_000) }
    const rotated = (own: Partial<Manager>, lifetime?: number) => ruleOnRotating(manager(own), old, lifetime, catalogue)
    expect(rotated({})).toEqual({ lifetime: 60_000 })
    expect(rotated({ expiresIn: 9000 })).toEqual({ lifetime: 9000 })
    expect(rotated({ expiresIn: 90_000 })).toEqual({ lifetime: 60_000 })
    expect(rotated({ expiresIn: 9000 }, 10_000)).toMatchObject({ error: { status: 400 } })
    // Whoever rotates a key gets its text.
    expect(rotated({ scopes: ['tags:write', 'keys:manage'] })).toMatchObject({ error: { status: 403 } })
  })

  it('is one of a bounded number', () => {
    expect(made({ activeKeys: 999, changes: 999 })).toEqual({ lifetime: null })
    expect(made({ activeKeys: 1000 })).toMatchObject({ error: { status: 409 } })
    expect(made({ changes: 1000 })).toMatchObject({ error: { status: 429 } })
  })
})

it("replaces over HTTP no key that has ended, and no operator's", () => {
  const now = new Date(1000)
  expect(ruleOnOld(key, now)).toBeUndefined()
  expect(ruleOnOld({ ...key, revoked_at: now }, now)).toMatchObject({ status: 409 })
  expect(ruleOnOld({ ...key, expires_at: now }, now)).toMatchObject({ status: 409 })
  expect(ruleOnOld({ ...key, is_operator: true }, now)).toMatchObject({ status: 409 })
})
