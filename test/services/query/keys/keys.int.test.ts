import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it } from 'vitest'
import { commandLine, noteAudit } from '#ledger/audit.js'
import { issueKey, type NewKey, revokeKey } from '#ledger/keys.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { createKeyActions } from '#query/keys/actions.js'
import { createOperatorActions } from '#query/operators/actions.js'
import { catalogue } from '#schemas/catalogue.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'
import { createEdge } from '../../edge/edge.js'

// By HTTP, with a real Postgres: what a key with keys:manage may do, and what it may not.

const { pool } = await openMigratedDatabase(6)
const keys = createKeyActions(pool, catalogue)
const { send, callers } = createEdge({ keys, operators: createOperatorActions(pool), now: Date.now })

/** A key of the database that the edge knows. */
const newKey = async (org: string, over: Partial<NewKey> = {}): Promise<string> => {
  const wanted = { org, scopes: null, lifetime: null, ...over }
  const { keyId } = await inTransaction(pool, (connection) => issueKey(connection, wanted, commandLine))
  const isOperator = over.isOperator ?? false
  callers.set(keyId, { orgId: org, keyId, scopes: wanted.scopes, ...(isOperator && { isOperator }) })
  return keyId
}
type Method = 'GET' | 'POST' | 'PATCH'
const ask = (method: Method, url: string, key: string, body?: object, headers: Record<string, string> = {}) =>
  send(method, url, body, { authorization: `Bearer ${key}`, ...headers })

let [chief, uploader, stranger, operator] = ['', '', '', '']
beforeEach(async () => {
  await pool.query(`
    begin; set local weir.audit = 'delete'; truncate auth.api_keys, auth.organisations, auth.audit cascade; commit`)
  chief = await newKey('acme', { scopes: ['all', 'keys:manage'], name: 'the head of data' })
  uploader = await newKey('acme')
  stranger = await newKey('other', { scopes: ['all', 'keys:manage'] })
  operator = await newKey('weir-operators', { isOperator: true })
})

it('makes, names, rotates and revokes keys of its organisation, and shows who did what', async () => {
  const wanted = { name: 'nightly upload', scopes: ['shops:write'], expires_in_seconds: 3600 }
  const made = await ask('POST', '/v1/keys', chief, wanted)
  expect(made).toMatchObject({ status: 201, body: { org: 'acme', name: wanted.name, scopes: wanted.scopes } })
  const { key_id: id, key } = made.body
  expect(await ask('PATCH', `/v1/keys/${id}`, chief, { name: 'tills' })).toMatchObject({ status: 200 })
  // The name that it has already is no change.
  expect((await ask('PATCH', `/v1/keys/${id}`, chief, { name: 'tills' })).body).toMatchObject({ name: 'tills' })
  const rotated = await ask('POST', `/v1/keys/${id}/rotate`, chief, { grace_seconds: 0 })
  expect(rotated).toMatchObject({ status: 201, body: { name: 'tills', replaces: { key_id: id } } })
  const second = rotated.body.key_id
  const first = await ask('POST', `/v1/keys/${second}/revoke`, chief)
  expect((await ask('POST', `/v1/keys/${second}/revoke`, chief)).body).toEqual({ ...first.body })
  await ask('POST', `/v1/operator/keys/${uploader}/revoke`, operator)

  const by = { kind: 'key', key_id: chief, name: 'the head of data' }
  const list = await ask('GET', '/v1/keys', chief)
  expect(list.body.keys).toMatchObject([
    { key_id: chief, state: 'active', created_by: { kind: 'command', key_id: null } },
    { key_id: uploader, state: 'revoked', revoked_by: { kind: 'operator', key_id: null, name: null } },
    { key_id: id, name: 'tills', state: 'revoked', created_by: by, revoked_by: by },
    { key_id: second, state: 'revoked', revoked_by: by },
  ])
  const ended = await ask('GET', '/v1/keys?state=ended', chief)
  expect(ended.body.keys).toHaveLength(3)
  expect((await ask('GET', '/v1/keys?state=active', chief)).body.keys).toHaveLength(1)

  const audit = await ask('GET', '/v1/audit', chief)
  const done = audit.body.done as { action: string; subject: string; by: object; details: object }[]
  expect(done.map(({ action, subject }) => [action, subject])).toEqual([
    ['key_revoked', uploader],
    ['key_revoked', second],
    ['key_rotated', id],
    ['key_renamed', id],
    ['key_issued', id],
    ['key_issued', uploader],
    ['key_issued', chief],
  ])
  expect(done[0]?.by).toEqual({ kind: 'operator', key_id: null, name: null })
  expect(done[3]).toMatchObject({ by, details: { name: 'tills', was: 'nightly upload' } })
  const { rows } = await pool.query('select * from auth.audit')
  expect(JSON.stringify([list.body, audit.body, rows])).not.toContain(key.slice(-20))
  const { chain: head } = audit.body.done[0]
  const holds = { holds: true, entries: 7, redacted: 0, head, problem: null }
  expect(await ask('GET', `/v1/audit/verification?head=${head}`, chief)).toMatchObject({ status: 200, body: holds })
  const verified = await ask('GET', `/v1/operator/audit/verification?org=acme&head=${'0'.repeat(64)}`, operator)
  expect(verified.body).toMatchObject({ ...holds, holds: false, problem: { what: 'head_missing' } })
  expect(await ask('GET', '/v1/audit/verification?head=x', chief)).toMatchObject({ status: 400 })
  // An operator sees which operator it was.
  const all = await ask('GET', '/v1/operator/audit?org=acme&limit=1', operator)
  expect(all.body.done).toMatchObject([{ org: 'acme', by: { kind: 'operator', key_id: operator } }])
  const next = await ask('GET', `/v1/operator/audit?org=acme&limit=3&cursor=${all.body.next_cursor}`, operator)
  expect(next.body.done.map(({ subject }: { subject: string }) => subject)).toEqual([second, id, id])
})

it('shows an operator, and nobody else, what concerns every organisation', async () => {
  await noteAudit(pool, commandLine, { org: '*', action: 'retention_set', subject: 'shops', details: { keep: '30d' } })
  const list = await ask('GET', '/v1/operator/audit?org=*', operator)
  expect(list.body.done).toMatchObject([{ org: '*', action: 'retention_set', subject: 'shops' }])
  expect((await ask('GET', '/v1/operator/audit/verification?org=*', operator)).body).toMatchObject({
    ...{ holds: true, entries: 1 },
  })
  expect((await ask('GET', '/v1/operator/audit?org=**', operator)).status).toBe(400)
  expect((await ask('GET', '/v1/operator/audit?org=*', chief)).status).toBe(403)
  expect(JSON.stringify((await ask('GET', '/v1/audit', chief)).body)).not.toContain('retention_set')
})

it.each([
  ['GET', '/v1/keys'],
  ['POST', '/v1/keys'],
  ['GET', '/v1/audit'],
  ['GET', '/v1/audit/verification'],
  ['PATCH', '/v1/keys/x'],
  ['POST', '/v1/keys/x/rotate'],
  ['POST', '/v1/keys/x/revoke'],
] as const)('%s %s needs keys:manage, which a key without scopes does not have', async (method, url) => {
  const body = method === 'PATCH' ? { name: 'x' } : undefined
  for (const key of [uploader, operator]) {
    const { status, body: answer } = await ask(method, url, key, body)
    expect([status, answer.message]).toEqual([403, 'this API key lacks the scope keys:manage'])
  }
})

it('shows a stranger nothing, and lets a stranger do nothing: what is foreign is absent', async () => {
  const attempts = (id: string) => [
    ask('PATCH', `/v1/keys/${id}`, stranger, { name: 'mine' }),
    ask('POST', `/v1/keys/${id}/rotate`, stranger, {}),
    ask('POST', `/v1/keys/${id}/revoke`, stranger),
  ]
  const faceOf = ({ status, body }: { status: number; body: { message: string } }) => [status, body.message]
  const absent = (await Promise.all(attempts('nosuchkey000'))).map(faceOf)
  expect(absent.map(([status]) => status)).toEqual([404, 404, 404])
  for (const foreign of [uploader, chief, operator])
    expect((await Promise.all(attempts(foreign))).map(faceOf)).toEqual(absent)
  const list = await ask('GET', '/v1/keys', stranger)
  expect(list.body.keys.map(({ key_id }: { key_id: string }) => key_id)).toEqual([stranger])
  expect((await ask('GET', '/v1/audit', stranger)).body.done).toMatchObject([{ subject: stranger }])
  const unnamed = await pool.query(`select from auth.api_keys where name = 'mine' or revoked_at is not null`)
  expect(unnamed.rowCount).toBe(0)
  // Not by a parameter, nor by a field.
  expect((await ask('GET', '/v1/keys?org=acme', stranger)).status).toBe(400)
  expect((await ask('POST', '/v1/keys', stranger, { org: 'acme' })).status).toBe(400)
})

it("does not show an operator's key that speaks for the same organisation, and does not end it", async () => {
  const above = await newKey('acme', { isOperator: true })
  const list = await ask('GET', '/v1/keys', chief)
  expect(list.body.keys.map(({ key_id }: { key_id: string }) => key_id)).not.toContain(above)
  expect((await ask('POST', `/v1/keys/${above}/revoke`, chief)).status).toBe(404)
  expect((await ask('POST', `/v1/keys/${above}/rotate`, chief, {})).status).toBe(404)
})

it("gives no more than it has, by rotation neither, and to nobody an operator's rights", async () => {
  const narrow = await newKey('acme', { scopes: ['shops:write', 'keys:manage'], lifetime: 3_600_000 })
  const made = await ask('POST', '/v1/keys', narrow)
  // Unless said: what it has itself, but for the right to make keys, and for as long as it lives.
  expect(made.body).toMatchObject({ scopes: ['shops:write'], org: 'acme' })
  expect(Date.parse(made.body.expires_at)).toBeLessThanOrEqual(Date.now() + 3_600_000)
  for (const [body, status] of [
    [{ scopes: ['tags:write'] }, 403],
    [{ scopes: ['all'] }, 403],
    [{ scopes: null }, 403],
    [{ expires_in_seconds: 7200 }, 400],
    [{ is_operator: true }, 400],
  ] as const)
    expect((await ask('POST', '/v1/keys', narrow, body)).status).toBe(status)
  expect((await ask('POST', `/v1/keys/${uploader}/rotate`, narrow, {})).status).toBe(403)
  expect((await ask('POST', `/v1/keys/${chief}/rotate`, narrow, {})).status).toBe(403)
  // A key that is rotated by itself lives no longer than before.
  const own = await ask('POST', `/v1/keys/${narrow}/rotate`, narrow, { grace_seconds: 0 })
  expect(own.status).toBe(201)
  expect(Date.parse(own.body.expires_at)).toBeLessThanOrEqual(Date.now() + 3_600_000)
  const { rows } = await pool.query('select key_id from auth.api_keys where is_operator')
  expect(rows).toEqual([{ key_id: operator }])
})

it('does not end the key that is used, and goes by what Postgres knows, not by what an edge remembers', async () => {
  expect((await ask('POST', `/v1/keys/${chief}/revoke`, chief)).status).toBe(409)
  await revokeKey(pool, chief, commandLine)
  for (const [method, url, body] of [
    ['POST', '/v1/keys', {}],
    ['PATCH', `/v1/keys/${uploader}`, { name: 'x' }],
    ['POST', `/v1/keys/${uploader}/rotate`, {}],
    ['POST', `/v1/keys/${uploader}/revoke`, {}],
  ] as const)
    expect((await ask(method, url, chief, body)).status).toBe(403)
  const { rowCount } = await pool.query(`select from auth.api_keys where org_id = 'acme' and revoked_at is null`)
  expect(rowCount).toBe(1)
})

it('makes one key for one Idempotency-Key, at once and one after the other, and says which', async () => {
  const headers = { 'idempotency-key': randomUUID() }
  const body = { name: 'once' }
  const answers = await Promise.all([1, 2, 3].map(() => ask('POST', '/v1/keys', chief, body, headers)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  const made = answers.find(({ status }) => status === 201)?.body
  for (const { status, body } of answers) if (status === 409) expect(body.message).toContain(made.key_id)
  const { rowCount } = await pool.query(`select from auth.api_keys where name = 'once'`)
  expect(rowCount).toBe(1)
  const again = { 'idempotency-key': randomUUID() }
  const rotate = () => ask('POST', `/v1/keys/${uploader}/rotate`, chief, {}, again)
  const first = await rotate()
  const repeated = await rotate()
  expect([first.status, repeated.status]).toEqual([201, 409])
  expect(repeated.body.message).toContain(first.body.key_id)
})

it('has a bound on active keys that holds when many are made at once', async () => {
  await pool.query(
    `insert into auth.api_keys (key_id, org_id, key_hash) select 'k' || n, 'acme', ('k' || n)::bytea
    from generate_series(1, 995) n`,
  )
  const answers = await Promise.all(Array.from({ length: 6 }, () => ask('POST', '/v1/keys', chief)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409])
  // Those of other organisations are not counted.
  expect((await ask('POST', '/v1/keys', stranger)).status).toBe(201)
})
