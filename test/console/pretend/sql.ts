import type { IncomingMessage, ServerResponse } from 'node:http'

type Saved = { name: string; query: string; about: string | null; version: number; saved_at: string; saved_by: string }
type Asked = {
  request: IncomingMessage
  response: ServerResponse
  pathname: string
  org: string
  keyId: string
  body: Record<string, unknown>
}

/** The password of every analyst here. */
export const pretendPassword = 'pretend-password'

/** POST /v1/sql and /v1/queries, from memory: whatever is asked, the answer is the sales of a quarter. */
export const createPretendSql = () => {
  const saved = new Map<string, Saved>()
  const ran: string[] = []
  let cancelled = 0

  const run = ({ request, response, org, body }: Asked) => {
    const query = String(body.query)
    if (request.headers['weir-analyst-password'] !== pretendPassword)
      return json(response, 403, {
        message: `ClickHouse does not let analyst_${org} in with this password: weir analysts create --org ${org}`,
      })
    ran.push(query)
    if (query.includes('amont'))
      return json(response, 400, { message: 'Unknown expression identifier `amont`. Maybe you meant: [`amount`]' })
    if (query.includes('sleep')) {
      response.on('close', () => {
        cancelled += 1
      })
      return undefined
    }
    const days = Array.from({ length: 90 }, (_, ago) =>
      new Date(Date.now() - (89 - ago) * 86_400_000).toISOString().slice(0, 10),
    )
    const rows = days.map((day, at) => [
      day,
      String(40 + Math.round(30 * Math.sin(at / 7))),
      (812.5 + 300 * Math.sin(at / 7)).toFixed(2),
      at === 3 ? null : 'GB',
    ])
    if (request.headers.accept !== 'application/json')
      return response
        .writeHead(200, { 'content-type': String(request.headers.accept) })
        .end(`"day","transactions"\n${rows.map(([day, number]) => `${day},${number}\n`).join('')}`)
    const columns = [
      { name: 'day', type: 'Date32' },
      { name: 'transactions', type: 'UInt64' },
      { name: 'amount', type: 'Decimal(38, 9)' },
      { name: 'region', type: 'Nullable(String)' },
    ]
    const shown = query.startsWith('select all') ? Array.from({ length: 1000 }, (_, at) => rows[at % 90]) : rows
    return json(response, 200, {
      columns,
      rows: shown,
      truncated: query.startsWith('select all'),
      rows_read: 4200,
      bytes_read: 81_000,
      seconds: 0.034,
    })
  }

  const change = ({ request, response, pathname, org, keyId, body }: Asked) => {
    const name = decodeURIComponent(pathname.replace(/^\/v1\/queries\/?/, ''))
    const place = `${org}/${name}`
    if (request.method === 'GET')
      return json(response, 200, {
        queries: [...saved].filter(([key]) => key.startsWith(`${org}/`)).map(([, each]) => each),
      })
    if (request.method === 'DELETE')
      return json(response, saved.delete(place) ? 200 : 404, { name, message: 'there is none' })
    if (saved.get(place)?.version !== body.version)
      return json(response, 409, { message: 'k_other has saved this query meanwhile (version 2)' })
    const each = {
      ...{ name, query: String(body.query), about: (body.about as string | null) ?? null },
      ...{ version: Number(body.version ?? 0) + 1, saved_at: new Date().toISOString(), saved_by: keyId },
    }
    saved.set(place, each)
    return json(response, 200, each)
  }

  return {
    saved,
    ran,
    cancelled: () => cancelled,
    /** Whether the request was one of these. */
    answer: (asked: Asked): boolean => {
      if (asked.pathname === '/v1/sql') run(asked)
      else if (asked.pathname.startsWith('/v1/queries')) change(asked)
      else return false
      return true
    },
  }
}

const json = (response: ServerResponse, status: number, value: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
