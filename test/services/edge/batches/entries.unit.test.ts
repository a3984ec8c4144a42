import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sentIn, toStoredRecord } from '../../../../services/edge/batches/entries.js'

it('keeps a record byte for byte', () => {
  const anyText = fc.oneof(
    fc.json({ maxDepth: 5 }),
    fc.constantFrom('{"a":1e400}', '-0', '9007199254740993', ' { "a" : "\\u00e9\\/" } ', '{"a":1,"a":2}', '"\\ud83d"'),
  )
  fc.assert(
    fc.property(anyText, (record) => {
      expect(toStoredRecord(Buffer.from(record))).toEqual({ record, truncated: false })
    }),
  )
})

it('cuts at 64 KiB, between characters', () => {
  for (const text of ['x', 'é', '漢', '𝒳']) {
    const { record, truncated } = toStoredRecord(Buffer.from(`"${text.repeat(70_000)}"`))
    expect(truncated).toBe(true)
    expect(Buffer.byteLength(record)).toBeGreaterThan(65_536 - 4)
    expect(Buffer.byteLength(record)).toBeLessThanOrEqual(65_536)
    expect(record.isWellFormed()).toBe(true)
    expect(record).not.toContain('�')
  }
  expect(toStoredRecord(Buffer.from('漢'.repeat(21_000))).truncated).toBe(false)
})

it('shows only the text of a record that is nested too deep for clients to read', () => {
  const nested = (levels: number) => Buffer.from(`${'['.repeat(levels)}"[["${']'.repeat(levels)}`)
  expect(toStoredRecord(nested(100))).toMatchObject({ truncated: false })
  expect(toStoredRecord(nested(101))).toEqual({ record: nested(101).toString(), truncated: true })
  expect(toStoredRecord(nested(1_000_000)).truncated).toBe(true)
})

it('finds each record of an upload as it was sent', () => {
  const blank = fc.constantFrom('', ' ', '\n  ', '\t', ' '.repeat(2500))
  const value = fc.oneof(fc.json(), fc.constantFrom('{"a":"]}"}', '"[,]\\\\"', '[{}]', '{ "b" : [1 , 2] }', '"\\""'))
  const body = fc
    .tuple(fc.constantFrom('"records"', '"\\u0072ecords"'), fc.array(fc.tuple(blank, value, blank), { minLength: 1 }))
    .map(([name, values]) => ({
      text: ` { ${name} : [${values.map((parts) => parts.join('')).join(',')}] } `,
      records: values.map(([, record]) => record),
    }))
  fc.assert(
    fc.property(body, fc.func(fc.boolean()), ({ text, records }, isAsked) => {
      const sentAt = sentIn(Buffer.from(text))
      records.forEach((record, index) => {
        // A record that is accepted is not asked for.
        if (isAsked(index)) expect(sentAt(index)().toString().trim()).toBe(record)
      })
    }),
  )
})

it('finds a record behind any number of blanks', () => {
  const blanks = ' '.repeat(15 * 1024 * 1024)
  const sentAt = sentIn(Buffer.from(`{"records":[${blanks}1,${blanks.slice(0, 1_000_000)}2]}`))
  expect(sentAt(1)().toString()).toBe('2')
})
