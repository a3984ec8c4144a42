import { describe, expect, it } from 'vitest'
import { toListTable } from '../../../../services/operator/rejected/list.js'
import { listed, now, retried } from './a-rejection.js'

describe('the list', () => {
  const rows = [listed(), listed({ retry: retried('refused') }), listed({ org: '', id: 'weir.submitted.shops/3/12' })]

  it.each([80, 100, 200])('fits %i columns and keeps its ids whole', (width) => {
    const table = toListTable(rows, width, now)
    expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(width)
    for (const { id } of rows) expect(table).toContain(String(id))
    for (const { requestId } of rows.slice(0, 2)) expect(table).toContain(requestId)
    expect(table.split('\n')).toHaveLength(width < 140 ? 8 : 4)
  })

  it('names a message that could not be decoded by its batch, since it has no request', () =>
    expect(toListTable(rows, 200, now)).toContain(rows[2]?.batchId))

  it('says whether each was retried, and counts its further codes', () => {
    const twice = listed({ problems: [...listed().problems, { field: 'value', code: 'out_of_range', message: '' }] })
    const table = toListTable(
      [twice, listed({ retry: retried(null) }), listed({ retry: retried('accepted') })],
      200,
      now,
    )
    expect(table).toMatch(/unknown_reference \+1 +no/)
    expect(table).toMatch(/unknown_reference +unfinished/)
    expect(table).toMatch(/unknown_reference +accepted/)
  })
})
