import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readBody } from '../../../../services/edge/body/body.js'
import { countTokens, findLoss, lossOf } from '../../../../services/edge/body/json-exact.js'
import { sized } from '../../../support/sized.js'

/** JSON as it is written: an object is its pairs, in order, with names that may come twice. */
type Written = string | { list: Written[] } | { pairs: [string, Written][] }

const scalar = fc.oneof(
  fc.constantFrom('0', '-0', '1e5', '0.0', '0e9', '-1.5E-3', '1e999', 'true', 'false', 'null', '0.05'),
  fc.string({ unit: fc.constantFrom(...'{}[]",:\\e1é\n'), maxLength: 6 }).map((text) => JSON.stringify(text)),
)
const { tree } = fc.letrec<{ tree: Written }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    scalar,
    fc.record({ list: fc.array(tie('tree'), { maxLength: 4 }) }),
    fc.record({
      pairs: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'name', '__proto__', '"', ''), tie('tree')), {
        maxLength: 4,
      }),
    }),
  ),
}))

const spelled = (name: string, escaped: boolean): string =>
  escaped && name === 'name' ? '"n\\u0061me"' : JSON.stringify(name)

const write = (given: Written, gap: string): string => {
  if (typeof given === 'string') return given
  if ('list' in given) return `[${given.list.map((item) => gap + write(item, gap)).join(',')}${gap}]`
  const pairs = given.pairs.map(([name, value], i) => `${spelled(name, i % 2 === 1)}${gap}:${gap}${write(value, gap)}`)
  return `{${gap}${pairs.join(`${gap},${gap}`)}}`
}

const repeats = (given: Written): boolean => {
  if (typeof given === 'string') return false
  if ('list' in given) return given.list.some(repeats)
  const names = given.pairs.map(([name]) => name)
  return new Set(names).size < names.length || given.pairs.some(([, value]) => repeats(value))
}

const lossIn = (text: string) => lossOf(text, JSON.parse(text), countTokens(Buffer.from(text)))

describe('a name that comes twice in one object', () => {
  it('is found wherever it is, however it is spelled, and nowhere else', () => {
    fc.assert(
      fc.property(tree, fc.constantFrom('', ' ', '\n\t'), (given, gap) => {
        const text = write(given, gap)
        expect(lossIn(text) !== undefined, text).toBe(repeats(given))
        expect(findLoss(text) !== undefined, text).toBe(repeats(given))
      }),
      { numRuns: sized(1000, 3000) },
    )
  })

  it.each([
    ['{"records":[],"records":[{}]}', 'the field records comes twice in one object (line 1, column 15)'],
    [
      '{"records":[{"a":1},\n{"name":1,"n\\u0061me":2}]}',
      'the field name comes twice in one object (record 1, line 2, column 11)',
    ],
    [
      '{"records":[{"x":{"y":[{"b":1,"b":1}]}}]}',
      'the field b comes twice in one object (record 0, line 1, column 31)',
    ],
    ['{"__proto__":1,"__proto__":2}', 'the field __proto__ comes twice in one object (line 1, column 16)'],
    ['{"a secret":1,"a secret":2}', 'a field comes twice in one object (line 1, column 15)'],
  ])('in %s is told', async (text, message) => {
    expect(await read(text)).toEqual({ error: { status: 400, message } })
  })
})

describe('a number', () => {
  it.each(['1e-999', '-1e-999', '0.5E-400', `0.${'0'.repeat(400)}1`])('%s is not turned into zero', async (number) => {
    expect(await read(`{"records":[{},{"savings":${number}}]}`)).toMatchObject({
      error: { status: 400, message: expect.stringMatching(/too close to zero.*\(record 1, line 1, column 27\)/) },
    })
  })

  it.each([
    ['0', 0],
    ['-0', -0],
    ['0e5', 0],
    ['0.000', 0],
    [`0.${'0'.repeat(400)}`, 0],
    ['5e-324', 5e-324],
    ['1E2', 100],
    ['0.1000000000000000055511151231257827', 0.1],
  ])('%s is read as it is', async (text, value) => {
    expect(await read(text)).toMatchObject({ json: value })
  })

  it('vanishes exactly where the parser makes a zero of it', () => {
    const number = fc
      .tuple(fc.constantFrom('', '-'), fc.nat(9), fc.nat(9), fc.integer({ min: -340, max: 10 }))
      .map(([sign, whole, part, power]) => `${sign}${whole}.${part}e${power}`)
    fc.assert(
      fc.property(number, (text) => {
        const isZero = /^-?0\.0e/.test(text)
        expect(lossIn(text) !== undefined, text).toBe(!isZero && JSON.parse(text) === 0)
      }),
      { numRuns: 1000 },
    )
  })
})

it('reads a body that is nested as deep as it is long', async () => {
  const deep = (levels: number, open: string, close: string) => open.repeat(levels) + close.repeat(levels)
  expect(await read(deep(90_000, '[', ']'))).toHaveProperty('json')
  expect(await read(`${'{"a":'.repeat(90_000)}1${'}'.repeat(90_000)}`)).toHaveProperty('json')
  expect(await read(deep(1_000_000, '[', ']'))).toMatchObject({ error: { status: 400 } })
  expect(await read('['.repeat(90_000))).toMatchObject({ error: { status: 400 } })
})

const read = (text: string) => readBody(Buffer.from(text), { gzipped: false, limit: 16 * 1024 * 1024 })
