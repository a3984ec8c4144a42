import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countTokens } from '../../../../services/edge/body/json-exact.js'
import { describeFault, findFault } from '../../../../services/edge/body/json-fault.js'

describe('a fault', () => {
  it.each([
    ['{"a":}', 5, 'a value'],
    ['{"a":1 "b"}', 7, 'a comma or the closing bracket'],
    ['{"a":1,}', 7, 'a quoted name'],
    ['{a:1}', 1, 'a quoted name or }'],
    ['{"a" 1}', 5, 'a colon'],
    ['[1,2', 4, 'a comma or the closing bracket'],
    ['[1,]', 3, 'a value'],
    ['[01]', 1, 'a value or ]'],
    ['{"a":nul}', 5, 'a value'],
    ['{"a":1}x', 7, 'the end'],
    ['["a', 3, 'a closing quote'],
    ['["\\q"]', 2, 'a known escape sequence'],
    ['["\n"]', 2, 'an escape sequence instead of a control character'],
    ['\ufeff{}', 0, 'a value'],
    ['[}', 1, 'a value or ]'],
  ])('in %j is at %i', (text, at, wanted) => {
    expect(() => JSON.parse(text)).toThrow()
    expect(findFault(text)).toEqual({ at, wanted })
  })

  it('is told by line and column, and quotes nothing', () => {
    expect(describeFault('{\n  "records": secret').message).toBe(
      'a value was expected at line 2, column 14 (position 15), where there is something else',
    )
  })

  it.each(['a,b\n1,2', 'a=1&b=2', '{"a": 1}\n{"a": 2}', ''])('in %j is that it is another format', (text) =>
    expect(describeFault(text).isAnotherFormat).toBe(true),
  )
  it.each([' [1,', '{"a" 1}'])('in %j is a mistake', (text) => expect(describeFault(text).isAnotherFormat).toBe(false))

  it('is found exactly where the parser finds one', () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom(...'{}[]",:0-1.e \n\\utrnlafseAF\u0010') }),
      fc.tuple(fc.json(), fc.nat(60)).map(([json, end]) => json.slice(0, end)),
    )
    fc.assert(
      fc.property(text, (given) => {
        const { at, wanted } = findFault(given)
        expect(at).toBeLessThanOrEqual(given.length)
        expect(at === given.length && wanted === 'the end').toBe(isJson(given))
      }),
      { numRuns: 2000 },
    )
  })
})

it('counts values without parsing', () => {
  const count = (json: unknown) => countTokens(Buffer.from(JSON.stringify(json)))
  expect(count({ records: [{ a: 1, b: '[,{:\\"' }, { a: 2 }] })).toEqual({
    values: 6,
    names: 4,
    differentNames: 3,
    mayVanish: false,
  })
  expect(countTokens(Buffer.from('"\\')).values).toBe(0)
})

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
