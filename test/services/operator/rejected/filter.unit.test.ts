import { describe, expect, it } from 'vitest'
import { whereOf } from '#rejections/filter.js'
import { catalogue } from '#schemas/catalogue.js'
import { readFilter } from '../../../../services/operator/rejected/filter.js'

const now = Date.parse('2026-03-31T12:00:00Z')

describe('a filter', () => {
  it('becomes a condition with places for its values, so that nothing is spliced in', () => {
    const filter = readFilter({ org: 'acme', code: 'unknown_reference', since: '24h' }, catalogue, now)
    const { where, values } = whereOf(filter)
    expect(values).toEqual({ org: 'acme', code: 'unknown_reference', since: now - 86_400_000 })
    for (const name of Object.keys(values)) expect(where).toContain(`{${name}:`)
    expect(where.split(' and ')).toHaveLength(3)
  })

  it('means all where nothing is said', () =>
    expect(whereOf(readFilter({}, catalogue, now))).toEqual({ where: 'true', values: {}, settings: {} }))

  it.each([
    [{ org: 'Acme!' }, "cannot be an organisation's id"],
    [{ type: 'offer' }, 'there is no type "offer": did you mean offers?'],
    [{ code: 'unknown_referense' }, 'did you mean unknown_reference?'],
    [{ code: 'nonsense at all' }, 'known are missing_field'],
    [{ request: 'abc' }, 'is not a request_id or batch_id'],
    [{ since: 'yesterday' }, '"yesterday" is not a time'],
  ])('of %j says what is wrong', (options, reason) => expect(() => readFilter(options, catalogue, now)).toThrow(reason))
})
