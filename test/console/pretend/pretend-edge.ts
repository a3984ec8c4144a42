import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerMart, martReferences, type PretendMarts } from './marts.js'
import { createPretendPersons } from './persons.js'
import { buildConsole, contentSecurityPolicy } from './serve-console.js'
import { createPretendSql } from './sql.js'
import { createPretendWebhooks } from './webhooks.js'
import { createWorld, topicReferences, typeReferences } from './world.js'

type Caller = { org_id: string; key_id: string; scopes: string[] | null; is_operator: boolean }
type Asked = { caller: Caller; org: string; query: URLSearchParams; body: Record<string, unknown>; path: string[] }

export const keys = {
  demo: 'weir_demo_1',
  other: 'weir_other_1',
  reader: 'weir_reader_1',
  manager: 'weir_manager_1',
  operator: 'weir_operator_1',
}

/**
 * Answers the console as the edge does, from memory: for tests of the page alone, and to look at it. What the real edge answers is
 * tested by the journeys.
 */
export const startPretendEdge = async ({ port = 0 }: { port?: number } = {}) => {
  const world = createWorld(Date.now)
  const files = await buildConsole()
  const servedFiles: string[] = []
  const callers = new Map<string, Caller>([
    [keys.demo, { org_id: 'demo', key_id: 'k_demo', scopes: null, is_operator: false }],
    [keys.other, { org_id: 'other', key_id: 'k_other', scopes: null, is_operator: false }],
    [keys.reader, { org_id: 'demo', key_id: 'k_reader', scopes: ['requests:read'], is_operator: false }],
    [keys.manager, { org_id: 'demo', key_id: 'k_manager', scopes: ['all', 'keys:manage'], is_operator: false }],
    [keys.operator, { org_id: 'operators', key_id: 'k_operator', scopes: null, is_operator: true }],
  ])
  const issued: Record<string, unknown>[] = [...callers.values()].map((caller) => ({
    ...caller,
    org: caller.org_id,
    state: 'active',
    name: caller.key_id === 'k_reader' ? 'the tills' : null,
    created_at: ago(30 * 86_400),
    created_by: null,
    expires_at: null,
    revoked_at: null,
    revoked_by: null,
    last_used_at: ago(40),
  }))
  const done: Record<string, unknown>[] = []
  const actorOf = ({ key_id, is_operator }: Caller) => ({ kind: is_operator ? 'operator' : 'key', key_id, name: null })
  const unbroken = () => ({ chain: randomBytes(32).toString('hex'), redacted: false })
  const note = (caller: Caller, org: unknown, action: string, subject: unknown, details: object = {}) =>
    done.unshift({
      at: ago(0),
      org,
      action,
      subject,
      by: actorOf(caller),
      request_id: randomUUID(),
      details,
      ...unbroken(),
    })
  /** The same at both addresses: an operator's, and those of one's own keys. */
  const keysAt = (base: string, orgOf: (asked: Asked) => unknown): typeof routes => {
    const find = (asked: Asked) => {
      const key = issued.find(({ key_id }) => key_id === asked.path[0])
      return key && (asked.caller.is_operator || key.org === asked.org) ? key : undefined
    }
    return [
      [
        'GET',
        new RegExp(`^${base}/keys$`),
        (asked) => ({
          keys: issued.filter(
            ({ org, state, is_operator }) =>
              org === orgOf(asked) &&
              (asked.caller.is_operator || !is_operator) &&
              (!asked.query.get('state') || (state === 'active') === (asked.query.get('state') === 'active')),
          ),
          next_cursor: null,
        }),
      ],
      [
        'POST',
        new RegExp(`^${base}/keys$`),
        (asked) => issue(asked.caller, String(asked.body.org ?? asked.org), asked.body),
      ],
      [
        'PATCH',
        new RegExp(`^${base}/keys/([^/]+)$`),
        (asked) => {
          const key = find(asked)
          if (key) note(asked.caller, key.org, 'key_renamed', key.key_id, { name: asked.body.name, was: key.name })
          return key && Object.assign(key, { name: asked.body.name })
        },
      ],
      [
        'POST',
        new RegExp(`^${base}/keys/([^/]+)/rotate$`),
        (asked) => {
          const key = find(asked)
          return key && issue(asked.caller, String(key.org), key)
        },
      ],
      [
        'POST',
        new RegExp(`^${base}/keys/([^/]+)/revoke$`),
        (asked) => {
          const key = find(asked)
          if (key) note(asked.caller, key.org, 'key_revoked', key.key_id)
          const ended = { state: 'revoked', revoked_at: ago(0), revoked_by: actorOf(asked.caller) }
          return key && Object.assign(key, ended)
        },
      ],
      [
        'GET',
        new RegExp(`^${base}/audit$`),
        (asked) => ({ done: done.filter(({ org }) => org === orgOf(asked)), next_cursor: null }),
      ],
      [
        'GET',
        new RegExp(`^${base}/audit/verification$`),
        (asked) => {
          const own = done.filter(({ org }) => org === orgOf(asked))
          const { at: from = null } = own.at(-1) ?? {}
          const { chain: head = null } = own[0] ?? {}
          return { holds: true, entries: own.length, redacted: 0, from, head, problem: null }
        },
      ],
    ]
  }
  const limits = new Map<string, { requests_per_second: number | null; records_per_second: number | null }>()
  const waiting: Record<string, unknown>[] = []
  const days: Record<string, unknown>[] = []
  const marts: PretendMarts = new Map()
  const sql = createPretendSql()
  const webhooks = createPretendWebhooks()
  const persons = createPretendPersons()
  const types = typeReferences()
  const topics = topicReferences()
  const fieldsOf = ({ record }: { record: unknown }) => record as Record<string, unknown>
  const stateOf = ({ state }: { state: string }) =>
    state === 'accepted_since' || state === 'overtaken' ? 'resolved' : state
  const refusalsOf = ({ org, query }: Asked) =>
    world.rejections.filter((row) => {
      const has = (name: string, value: unknown) => !query.get(name) || query.get(name) === value
      return (
        row.org === org &&
        has('type', row.type) &&
        has('request_id', row.request_id) &&
        (!query.get('state') || stateOf(row) === query.get('state')) &&
        row.problems.some(({ code, field }) => has('code', code) && has('field', field))
      )
    })

  const routes: [method: string, pattern: RegExp, answer: (asked: Asked) => unknown][] = [
    ['GET', /^\/v1\/me$/, ({ caller }) => caller],
    ['GET', /^\/v1\/types$/, () => ({ types })],
    ['GET', /^\/v1\/topics$/, () => ({ topics })],
    ['GET', /^\/v1\/marts$/, martReferences],
    ['GET', /^\/v1\/marts\/([^/]+)$/, ({ org, path, query }) => answerMart(marts, org, path[0] ?? '', query)],
    ['GET', /^\/v1\/topics\/([^/]+)\/events$/, () => ({ events: [], next: null })],
    [
      'GET',
      /^\/v1\/overview$/,
      ({ org }) => ({
        parts: [
          { name: 'Uploads', ok: true, words: 'are taken and decided' },
          { name: 'Tables', ok: true, words: 'are 2 s behind' },
        ],
        freshness: types.map(({ type }) => ({
          type,
          last_accepted_at:
            [...world.stored.values()]
              .filter((each) => each.org === org && each.type === type)
              .at(-1)
              ?.versions.at(-1)?.at ?? null,
        })),
        waiting: waiting.filter((each) => each.org === org).reduce((sum, each) => sum + (each.waiting as number), 0),
        last_refusals: world.rejections.filter((row) => row.org === org).slice(0, 10),
      }),
    ],
    ['GET', /^\/v1\/activity$/, ({ query }) => activityOf(query.get('span') ?? '')],
    [
      'GET',
      /^\/v1\/find$/,
      ({ org, caller, query }) => {
        const id = query.get('id') ?? ''
        const key = caller.is_operator ? issued.find(({ key_id }) => key_id === id) : undefined
        const records = [...world.stored.values()].filter((each) => each.org === org && each.id === id)
        const request = world.requests.find((each) => each.org === org && each.request_id === id)
        const found = [
          ...records.map(({ type }) => ({ kind: 'record', type, id })),
          ...(request ? [{ kind: 'request', type: request.type, id }] : []),
          ...(key ? [{ kind: 'key', id, org: key.org }] : []),
        ]
        return { found, complete: true }
      },
    ],
    [
      'GET',
      /^\/v1\/requests$/,
      ({ org, query }) => ({
        requests: world.requests
          .filter(
            (each) =>
              each.org === org &&
              (!query.get('status') || each.status === query.get('status')) &&
              (!query.get('type') || each.type === query.get('type')),
          )
          .slice(0, 50),
        next_cursor: null,
      }),
    ],
    ['GET', /^\/v1\/requests\/([^/]+)$/, ({ org, path }) => world.answers.get(`${org}/${path[0]}`)],
    [
      'GET',
      /^\/v1\/rejections$/,
      (asked) => ({
        rejections: refusalsOf(asked).slice(0, Number(asked.query.get('limit') ?? 100)),
        next_cursor: null,
      }),
    ],
    [
      'GET',
      /^\/v1\/rejections\/summary$/,
      (asked) => {
        const groups = new Map<string, Record<string, unknown>>()
        for (const row of refusalsOf(asked))
          for (const { code, field, message } of row.problems) {
            const name = `${row.type}/${code}/${field}`
            const group = groups.get(name) ?? {
              type: row.type,
              code,
              field,
              count: 0,
              last_seen: row.rejected_at,
              sample: { id: row.id, message, record: row.record, truncated: false },
            }
            groups.set(name, { ...group, count: (group.count as number) + 1, first_seen: row.rejected_at })
          }
        const all = refusalsOf({
          ...asked,
          query: new URLSearchParams([...asked.query].filter(([name]) => name !== 'state')),
        })
        const countOf = (state: string) => all.filter((row) => stateOf(row) === state).length
        const states = { open: countOf('open'), retried: countOf('retried'), resolved: countOf('resolved') }
        return { groups: [...groups.values()], states, complete: true }
      },
    ],
    [
      'GET',
      /^\/v1\/rejections\/values$/,
      (asked) => {
        const counts = new Map<string, number>()
        for (const row of refusalsOf(asked)) {
          const value = JSON.stringify(fieldsOf(row)[asked.query.get('field') ?? ''] ?? null)
          counts.set(value, (counts.get(value) ?? 0) + 1)
        }
        return {
          values: [...counts].map(([value, number]) => ({ value: JSON.parse(value), count: number })),
          complete: true,
        }
      },
    ],
    [
      'POST',
      /^\/v1\/rejections\/retry$/,
      ({ org, body }) => {
        const filter = new URLSearchParams(body.filter as Record<string, string>)
        const matched = refusalsOf({ org, query: filter } as Asked)
        const change = body.change as { field: string; from?: unknown; to?: unknown } | undefined
        const isMeant = (row: { record: unknown }) =>
          !change || !('from' in change) || (fieldsOf(row)[change.field] ?? null) === change.from
        const changed = (row: { record: unknown }) =>
          change ? { ...fieldsOf(row), [change.field]: change.to } : row.record
        const open = matched.filter((row) => row.state === 'open' && isMeant(row))
        const counts = {
          request_id: 'r1',
          status: 'done',
          dry_run: body.dry_run,
          matched: matched.length,
          submitted: open.length,
          skipped: { accepted_since: matched.length - open.length },
        }
        const samples = open.slice(0, 5).map((row) => ({
          ...{ rejection_id: row.rejection_id, id: row.id, problems: [] },
          ...{ before: fieldsOf(row)[change?.field ?? ''], after: change?.to },
        }))
        if (body.dry_run) return { ...counts, next_cursor: null, ...(change && { samples }) }
        let accepted = 0
        for (const row of open) {
          row.state = 'retried'
          if (world.upload(org, row.type, [changed(row)], false)?.status === 200) accepted += 1
        }
        return { ...counts, accepted, refused: open.length - accepted, waiting: 0, given_up: 0 }
      },
    ],
    ['GET', /^\/v1\/quality$/, ({ org }) => ({ days: days.filter((each) => each.org === org) })],
    [
      'GET',
      /^\/v1\/waiting$/,
      ({ org }) => ({
        missing: waiting.filter((each) => each.org === org),
        waiting: waiting.filter((each) => each.org === org).reduce((sum, each) => sum + (each.waiting as number), 0),
        next_cursor: null,
      }),
    ],
    [
      'POST',
      /^\/v1\/waiting\/cancel$/,
      ({ body }) => {
        const found = waiting.findIndex((each) => each.id === body.missing_id)
        return { cancelled: found === -1 ? 0 : (waiting.splice(found, 1)[0]?.waiting ?? 0), left: 0, complete: true }
      },
    ],
    [
      'GET',
      /^\/v1\/data\/([^/]+)\/([^/]+)\/journey$/,
      ({ org, path: [type = '', id = ''] }) => world.journey(org, type, id),
    ],
    [
      'GET',
      /^\/v1\/operator\/organisations$/,
      ({ query }) => {
        const limit = Number(query.get('limit') ?? 1000)
        const found = [...new Set(issued.map(({ org }) => org as string))]
          .filter((org) => org.startsWith(query.get('prefix') ?? ''))
          .sort()
        return {
          organisations: found.slice(0, limit).map((org) => ({
            org,
            created_at: ago(90 * 86_400),
            active_keys: issued.filter((key) => key.org === org).length,
            ...(limits.get(org) ?? { requests_per_second: null, records_per_second: null }),
          })),
          next_cursor: found.length > limit ? 'next' : null,
        }
      },
    ],
    [
      'GET',
      /^\/v1\/operator\/figures$/,
      ({ query }) => {
        const all = [...new Set(issued.map(({ org }) => org as string))].filter((org) =>
          org.startsWith(query.get('prefix') ?? ''),
        )
        const of = (org: string, status: 'accepted' | 'refused') =>
          world.requests.filter((each) => each.org === org).reduce((sum, each) => sum + Number(each[status]), 0)
        const organisations = all
          .map((org) => ({
            org,
            created_at: ago(90 * 86_400),
            active_keys: issued.filter((key) => key.org === org).length,
            ...(limits.get(org) ?? { requests_per_second: null, records_per_second: null }),
            accepted: of(org, 'accepted'),
            refused: of(org, 'refused'),
            waiting: org === 'demo' ? 1069 : 0,
            oldest_wait: org === 'demo' ? ago(5400) : null,
            limited: org === 'other' ? 17 : 0,
            lag_seconds: org === 'demo' ? 0.4 : 0,
          }))
          .sort((a, b) => b.accepted + b.refused - a.accepted - a.refused)
        return {
          since: ago(86_400),
          all: {
            organisations: all.length,
            accepted: of('demo', 'accepted'),
            refused: of('demo', 'refused'),
            waiting: 1069,
          },
          organisations: organisations.slice(0, Number(query.get('limit'))),
          next_cursor: null,
        }
      },
    ],
    [
      'GET',
      /^\/v1\/operator\/system$/,
      () => ({
        parts: [
          ...['kafka', 'postgres', 'registry', 'integrity', 'sink'].map((name) => ({ name, ok: true, problem: null })),
          { name: 'clickhouse', ok: false, problem: 'connect ECONNREFUSED 127.0.0.1:8123' },
        ],
        storage: [
          {
            part: 'postgres',
            used_bytes: 812_345_678,
            free_bytes: null,
            problem: 'Postgres does not tell what is free',
          },
          { part: 'clickhouse', used_bytes: 4_512_345_678, free_bytes: 81_412_345_678, problem: null },
        ],
        groups: [
          {
            group: 'weir-sink',
            state: 'Stable',
            members: 1,
            lag: 1250,
            topics: [
              { topic: 'weir.accepted.offers', lag: 1250 },
              { topic: 'weir.accepted.shops', lag: 0 },
            ],
          },
          {
            group: 'orders-team',
            state: 'Empty',
            members: 0,
            lag: 0,
            topics: [{ topic: 'weir.accepted.shops', lag: 0 }],
          },
        ],
      }),
    ],
    ...keysAt('/v1/operator', ({ query }) => query.get('org')),
    ...keysAt('/v1', ({ org }) => org),
    [
      'PUT',
      /^\/v1\/operator\/organisations\/([^/]+)\/limits$/,
      ({ path, body, caller }) => {
        limits.set(path[0] ?? '', body as { requests_per_second: number; records_per_second: number })
        note(caller, path[0], 'limits_set', path[0], body)
        return { org: path[0], ...body }
      },
    ],
  ]
  function issue(maker: Caller, org: string, wanted: Record<string, unknown>) {
    const key_id = `k_${randomBytes(4).toString('hex')}`
    const key = `weir_${randomBytes(12).toString('hex')}`
    const made = {
      key_id,
      name: (wanted.name as string) ?? null,
      org,
      scopes: (wanted.scopes as string[]) ?? null,
      expires_at: null,
    }
    issued.push({
      ...made,
      is_operator: false,
      state: 'active',
      created_at: ago(0),
      created_by: actorOf(maker),
      revoked_at: null,
      revoked_by: null,
      last_used_at: null,
    })
    note(maker, org, 'key_issued', key_id, { name: made.name, scopes: made.scopes })
    callers.set(key, { org_id: org, key_id, scopes: made.scopes, is_operator: false })
    return { ...made, key }
  }

  // By the key that they were opened with: four of a key, as at the real edge.
  const streams = new Map<ServerResponse, string>()
  const stream = (
    response: ServerResponse,
    key: string,
    start: (send: (name: string, data: unknown) => void) => () => void,
  ) => {
    if ([...streams.values()].filter((each) => each === key).length >= 4) {
      const message = 'this API key has 4 live streams open; close one of them first'
      response.writeHead(429, { 'content-type': 'application/json' }).end(JSON.stringify({ message }))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    response.write(': here\n\n')
    streams.set(response, key)
    const stop = start((name, data) => response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`))
    response.on('close', () => {
      streams.delete(response)
      stop()
    })
  }
  const live = (response: ServerResponse, key: string) =>
    stream(response, key, (send) => {
      const last = Math.floor(Date.now() / 5000) * 5000
      const starts = Array.from({ length: 180 }, (_, index) => last - (179 - index) * 5000)
      const of = (name: 'accepted' | 'refused' | 'waiting' | 'interactions') =>
        starts.map((start) => world.buckets.get(start)?.[name] ?? 0)
      send('history', {
        bucket_seconds: 5,
        from: new Date(starts[0] ?? 0).toISOString(),
        accepted: of('accepted'),
        refused: of('refused'),
        waiting: of('waiting'),
        interactions: of('interactions'),
      })
      const tell = (at: number) =>
        send('rates', { at: new Date(Math.floor(at / 5000) * 5000).toISOString(), ...world.bucketOf(at) })
      // The bucket before too: what came last in it came after it was told the last time.
      const timer = setInterval(() => {
        tell(Date.now() - 5000)
        tell(Date.now())
      }, 500)
      return () => clearInterval(timer)
    })

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://edge')
    const json = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (pathname === '/healthz') return json(200, { status: 'ok' })
    if (pathname === '/console') return response.writeHead(308, { location: '/console/' }).end()
    const file = files.get(pathname)
    if (file) {
      servedFiles.push(pathname)
      return response
        .writeHead(200, {
          'content-type': file.contentType,
          'content-security-policy': contentSecurityPolicy,
          'x-content-type-options': 'nosniff',
          'cache-control': pathname.includes('/files/') ? 'max-age=31536000, immutable' : 'no-cache',
        })
        .end(file.body)
    }
    const caller = callers.get((request.headers.authorization ?? '').replace('Bearer ', ''))
    if (!caller) return json(401, { error: 'Unauthorized', message: 'the key is not valid' })
    const org = caller.is_operator ? (searchParams.get('org') ?? caller.org_id) : caller.org_id
    if (pathname === '/v1/live') return live(response, caller.key_id)
    const [, topic] = /^\/v1\/topics\/([^/]+)\/events\/live$/.exec(pathname) ?? []
    if (topic)
      return stream(response, caller.key_id, (send) => {
        const type = topics.find(({ name }) => name === topic)?.type
        const tell = (name: string, event: unknown) => name === `${org} ${type}` && send('event', event)
        world.tellers.add(tell)
        return () => world.tellers.delete(tell)
      })
    const text = (await request.toArray()).map(String).join('')
    const body = (text ? JSON.parse(text) : {}) as Record<string, unknown>
    if (sql.answer({ request, response, pathname, org, keyId: caller.key_id, body })) return undefined
    const method = request.method ?? ''
    const accept = request.headers.accept ?? ''
    if (persons.answer({ method, pathname, org, body, accept, response })) return undefined
    if (webhooks.answer({ method, pathname, query: searchParams, org, body, response })) return undefined
    const [, type] = /^\/v1\/data\/([^/]+)$/.exec(pathname) ?? []
    if (type && request.method === 'POST') {
      const result = world.upload(org, type, body.records as unknown[], searchParams.get('dry_run') === 'true')
      return result ? json(result.status, result.answer) : json(404, { message: 'no such type' })
    }
    if (pathname === '/user-interactions' && request.method === 'POST') {
      const problems = world.interact(body)
      return problems.length > 0
        ? json(400, { error: 'Bad Request', message: 'the interaction is refused', problems })
        : json(201, { ...body, interaction_id: crypto.randomUUID(), recorded_at: ago(0) })
    }
    for (const [method, pattern, make] of routes) {
      const match = method === request.method ? pattern.exec(pathname) : null
      const made =
        match && make({ caller, org, query: searchParams, body, path: match.slice(1).map(decodeURIComponent) })
      if (made) return json(200, made)
      if (match) return json(404, { error: 'Not Found', message: 'nothing of yours is known by this name' })
    }
    return json(404, { error: 'Not Found', message: 'there is nothing at this address' })
  }

  const server = createServer(
    (request, response) => void answer(request, response).catch((error) => response.writeHead(500).end(String(error))),
  )
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const stop = () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    return closed
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    world,
    waiting,
    days,
    marts,
    sql,
    webhooks,
    persons,
    /** What an operator does for every organisation. */
    noteForAll: (action: string, subject: string, details: object) =>
      note(callers.get(keys.operator) as Caller, '*', action, subject, details),
    servedFiles,
    streamsOf: (key: string) => [...streams.values()].filter((each) => each === key).length,
    stop,
  }
}

/** Numbers that differ by the length of the time, with a bend in them. */
const activityOf = (span: string) => {
  const seconds = { '1h': 20, '6h': 120, '24h': 600, '7d': 3_600, '30d': 14_400, '90d': 43_200 }[span] ?? 20
  const until = (Math.floor(Date.now() / 1000 / seconds) + 1) * seconds
  const of = (most: number) =>
    Array.from({ length: 144 }, (_, at) => Math.round(most * seconds * (1 + Math.sin(at / 15)) * 10) / 10)
  return {
    bucket_seconds: seconds,
    from: new Date((until - 144 * seconds) * 1000).toISOString(),
    accepted: of(20).map(Math.round),
    refused: of(1).map(Math.round),
    waiting: of(0),
    interactions: of(6).map(Math.round),
  }
}

export const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString()
