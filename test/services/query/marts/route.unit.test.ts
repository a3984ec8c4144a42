import { describe, expect, it } from 'vitest'
import type { MartRow } from '#query/marts/read-mart.js'
import { createReadMartRows } from '#query/marts/read-mart.js'
import { marts } from '#schemas/marts/all.js'
import { acme, createEdge } from '../../edge/edge.js'

/** An edge whose ClickHouse has these rows, and what it was asked. */
const withRows = (rows: MartRow[]) => {
  const asked: { sql: string; values: Record<string, unknown> }[] = []
  const readMartRows = async (statement: { sql: string; values: Record<string, unknown> }) => {
    asked.push(statement)
    return rows.slice(0, Number(statement.values.limit))
  }
  return { ...createEdge({ readMartRows }), asked }
}

describe('GET /v1/marts', () => {
  it('names every mart with its columns, and those that are asked with values', async () => {
    const { status, body } = await createEdge().send('GET', '/v1/marts')
    expect(status).toBe(200)
    expect(body.marts.map(({ name }: { name: string }) => name)).toEqual(marts.map(({ name }) => name))
    expect(body.marts[0]).toMatchObject({
      name: 'sales_by_day',
      asked: null,
      columns: expect.arrayContaining([{ name: 'amount', type: 'Decimal(38, 9)', about: 'how much was paid' }]),
    })
    const asked = body.marts.filter((each: { asked: unknown }) => each.asked !== null)
    expect(asked).toMatchObject([{ name: 'segment_members', asked: { name: 'loyal' } }])
  })
})

describe('GET /v1/marts/{mart}', () => {
  const rows = [
    { day: '2026-01-01', amount: '10.3', rows: 1 },
    { day: '2026-01-02', amount: '0.1', rows: 2 },
  ]

  it('answers the rows of the caller’s organisation with the query that gives them', async () => {
    const { send, asked } = withRows(rows)
    const { status, body } = await send('GET', '/v1/marts/sales_by_day?by=day&sum=amount')
    expect(status).toBe(200)
    expect(body).toMatchObject({ mart: 'sales_by_day', rows, truncated: false })
    expect(body.sql).toContain("org_id = 'acme'")
    expect(body.sql).toContain('limit 1000')
    expect(asked[0]?.values).toMatchObject({ org: 'acme', limit: 1001 })
  })

  it('says where there are more rows than were asked for', async () => {
    const { send } = withRows(rows)
    const { body } = await send('GET', '/v1/marts/sales_by_day?by=day&sum=amount&limit=1')
    expect([body.rows.length, body.truncated]).toEqual([1, true])
  })

  it('answers as CSV where that is asked for', async () => {
    const { send } = withRows([{ name: 'A "big" shop, here', tags: ['x', 'y'], is_public: null, branches: 2 }])
    const { status, headers, body } = await send('GET', '/v1/marts/shops_overview', undefined, { accept: 'text/csv' })
    expect([status, headers['content-type'], headers['weir-truncated']]).toEqual([
      200,
      'text/csv; charset=utf-8',
      'false',
    ])
    expect(headers['content-disposition']).toBe('attachment; filename="shops_overview.csv"')
    const [head, line] = body.split('\n')
    expect(head).toMatch(/^shop_id,name,region,is_public,branches,categories,tags,/)
    expect(line).toMatch(/^,"A ""big"" shop, here",,,2,,"\[""x"",""y""\]",/)
  })

  it('names the marts where there is none of that name, and what else is wrong', async () => {
    const { send } = withRows([])
    const none = await send('GET', '/v1/marts/sales')
    expect([none.status, none.body.message]).toEqual([404, expect.stringMatching(/There are sales_by_day, cohorts/)])
    const wrong = await send('GET', '/v1/marts/sales_by_day?by=day&sum=region')
    expect([wrong.status, wrong.body.problems]).toEqual([
      400,
      [expect.objectContaining({ field: 'sum', code: 'out_of_range' })],
    ])
    for (const query of ['by=day)', 'sum=1', 'order=day,region', 'region=gb', 'shop_id=1', 'limit=10001', 'from=today'])
      expect((await send('GET', `/v1/marts/sales_by_day?${query}`)).status, query).toBe(400)
  })

  it('needs the scope analytics:read', async () => {
    const { send, callers } = withRows(rows)
    const path = '/v1/marts/sales_by_day?by=day&sum=amount'
    callers.set('acme-key', { ...acme, scopes: ['rejections:read'] })
    const { status, body } = await send('GET', path)
    expect([status, body.message]).toEqual([403, expect.stringContaining('analytics:read')])
    callers.set('acme-key', { ...acme, scopes: ['analytics:read'] })
    expect((await send('GET', path)).status).toBe(200)
  })

  it.each([
    ['241', 400, /reads more than may be read at once; ask for fewer days/],
    ['159', 503, /takes longer/],
    ['41', 400, /cannot be read; GET \/v1\/marts has an example/],
    ['210', 503, /marts cannot be read at the moment/],
  ])('says what to do where ClickHouse fails with %s', async (code, status, message) => {
    const query = async () => {
      throw Object.assign(new Error('as ClickHouse says it'), { code })
    }
    const { send } = createEdge({ readMartRows: createReadMartRows({ query }) })
    const answer = await send('GET', '/v1/marts/funnel')
    expect([answer.status, answer.body.message]).toEqual([status, expect.stringMatching(message)])
  })
})
