import { describe, expect, it } from 'vitest'
import { toSetAside } from '#schemas/set-aside.js'
import { toShowText } from '../../../../services/operator/rejected/show.js'
import { listed, now, retried } from './a-rejection.js'

describe('what is shown of a rejection', () => {
  it('is its record, its problems, where it came from and what a retry brought', () => {
    const one = listed()
    const retry = retried('accepted')
    const text = toShowText(one, retry)
    expect(text).toContain(`records[17] of request ${one.requestId}, batch ${one.batchId}`)
    expect(text).toContain('unknown_reference in shop_id: shop_id x is not a known record of shops')
    expect(text).toContain('      "value": 10\n')
    expect(text).toContain(`accepted on ${now.toISOString()} in request ${retry.request_id}`)
    expect(toShowText(one, retried('refused'))).toContain('the new rejection, which can be retried')
    expect(toShowText(one, retried(null))).toContain('the next retry finishes it')
  })

  it('is as much as was kept of a record that was cut off, which is no JSON', () =>
    expect(toShowText(listed({ record: '{"name":"Te', truncated: true }), undefined)).toContain('{"name":"Te'))

  const setAside = (value: Buffer) => {
    const message = { topic: 'weir.submitted.shops', partition: 3, offset: 12, timestamp: 0, value, reason: 'no Avro' }
    const { record, truncated, id, problems, type } = toSetAside(message)
    return toShowText(listed({ org: '', record, truncated, id, problems, type }), undefined)
  }

  it('is bytes and place of a message that could not be decoded', () => {
    const text = setAside(Buffer.from('garbage {1}'))
    expect(text).toContain('weir.submitted.shops/3/12')
    expect(text).toContain('undecodable: no Avro')
    expect(text).toContain('0000  67 61 72 62 61 67 65 20 7b 31 7d ')
    expect(text).toContain('as UTF-8\n    garbage {1}')
  })

  it('is never what a terminal would obey', () => {
    const text = setAside(Buffer.from('\u001b[2Jgone'))
    expect(text).not.toContain('\u001b')
    expect(text).toContain('1b 5b 32 4a')
  })
})
