import { describe, expect, it } from 'vitest'
import type { Doer } from '#ledger/audit.js'
import type { KeptThing, OpenExport } from '#persons/export.js'
import { acme, createEdge } from '../../edge/edge.js'

const ann = '0f8e2a5c-1b7d-4a3e-9c51-7d2f6e4b8a90'
const path = `/v1/persons/${ann}/export`
const interactionOf = (version: number): KeptThing => ({
  list: 'records',
  thing: {
    ...{ type: 'interactions', id: ann, version, accepted_at: new Date(0), is_deleted: false, is_current: true },
    record: { user_id: 'anna', city: null },
  },
})
const waiting: KeptThing = {
  list: 'waiting',
  thing: {
    ...{ type: 'transactions', id: ann, request_id: ann, since: new Date(0), until: new Date(1) },
    ...{ for: [{ field: 'shop_id', type: 'shops', id: ann }], record: { student_id: ann } },
  },
}

/** An edge that has these things of Ann, and what happened there, in its order. */
const withThings = (things: () => AsyncIterable<KeptThing>, over: { noteFails?: boolean } = {}) => {
  const done: unknown[] = []
  const head: OpenExport['head'] = {
    person: { id: ann, customer_ids: [ann], user_ids: ['anna'], not_followed: [{ user_id: 'ours', customers: 2 }] },
    exported_at: '2026-01-31T12:00:00.000Z',
    elsewhere: [{ where: 'backups', what: 'all', kept: 'a year, or "longer"' }],
  }
  async function* noted() {
    for await (const each of things()) {
      done.push('read')
      yield each
    }
  }
  const edge = createEdge({
    openPersonExport: async (orgId, id) => (orgId === 'acme' && id === ann ? { head, things: noted() } : undefined),
    notePersonExport: async ({ actor }: Doer, orgId, id) => {
      if (over.noteFails) throw new Error('Postgres is away')
      done.push([actor, orgId, id])
    },
  })
  return { ...edge, done }
}
async function* some(...things: KeptThing[]) {
  yield* things
}

describe('GET /v1/persons/{id}/export', () => {
  it('answers everything list by list, those that are empty too, and notes it first', async () => {
    const { send, done } = withThings(() => some(interactionOf(1), interactionOf(2), waiting))
    const { status, headers, body } = await send('GET', path)
    expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
      ...[200, 'application/json; charset=utf-8', 'attachment; filename="person.json"'],
    ])
    expect(Object.keys(body)).toEqual([
      ...['person', 'exported_at', 'records', 'refused', 'waiting', 'derived', 'elsewhere'],
    ])
    expect(body.records.map(({ version }: { version: number }) => version)).toEqual([1, 2])
    expect(body).toMatchObject({ refused: [], waiting: [{ record: { student_id: ann } }], derived: [] })
    expect(done).toEqual([['k1', 'acme', ann], 'read', 'read', 'read'])
  })

  it('answers as CSV where that is asked for', async () => {
    const { send } = withThings(() => some(interactionOf(1), waiting))
    const { headers, body } = await send('GET', path, undefined, { accept: 'text/csv' })
    expect(headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(body.split('\n')).toEqual([
      'part,type,id,version,time,field,value',
      ...[`person,,,,,id,${ann}`, `person,,,,,customer_id,${ann}`, 'person,,,,,user_id,anna'],
      'person,,,,,not_followed,"user_id ours, which 2 customers have"',
      'person,,,,,exported_at,2026-01-31T12:00:00.000Z',
      `record,interactions,${ann},1,1970-01-01T00:00:00.000Z,user_id,anna`,
      `waiting,transactions,${ann},,1970-01-01T00:00:00.000Z,student_id,${ann}`,
      `waiting,transactions,${ann},,1970-01-01T00:00:00.000Z,waits for,"[{""field"":""shop_id"",""type"":""shops"",""id"":""${ann}""}]"`,
      `waiting,transactions,${ann},,1970-01-01T00:00:00.000Z,waits until,1970-01-01T00:00:00.001Z`,
      'elsewhere,,,,,backups,"all; kept a year, or ""longer"""',
      '',
    ])
  })

  it('answers 404 where nothing is kept, and notes nothing', async () => {
    const { send, done } = withThings(() => some())
    const { status, body } = await send('GET', '/v1/persons/nobody/export')
    expect([status, body.message]).toEqual([404, expect.stringContaining('a customer_id, a student_id or a user_id')])
    expect(done).toEqual([])
  })

  it('takes an id with signs of an address, of a hundred characters at the most', async () => {
    const asked: string[] = []
    const { send } = createEdge({
      openPersonExport: async (_, id) => {
        asked.push(id)
        return undefined
      },
    })
    const statusOf = async (id: string) => (await send('GET', `/v1/persons/${encodeURIComponent(id)}/export`)).status
    const ids = ['a/b?c d', 'x'.repeat(100)]
    for (const id of ids) expect(await statusOf(id)).toBe(404)
    expect(asked).toEqual(ids)
    expect(await statusOf('x'.repeat(101))).toBe(414)
  })

  it('needs persons:read, which a key without scopes has', async () => {
    const { send, callers } = withThings(() => some(waiting))
    const withScopes = async (scopes: string[]) => {
      callers.set('k2', { ...acme, keyId: 'k2', scopes })
      return (await send('GET', path, undefined, { authorization: 'Bearer k2' })).status
    }
    expect(await withScopes(['data:read', 'rejections:read', 'analytics:read', 'interactions:read'])).toBe(403)
    expect(await withScopes(['persons:read'])).toBe(200)
    expect((await send('GET', path)).status).toBe(200)
  })

  it('sends nothing that is not noted', async () => {
    const { send, done } = withThings(() => some(waiting), { noteFails: true })
    expect((await send('GET', path)).status).toBe(503)
    expect(done).toEqual([])
  })

  it('ends the connection where the rest cannot be read, so that half an answer is none', async () => {
    const { app } = withThings(async function* () {
      for (let version = 0; version < 2_000; version += 1) yield interactionOf(version)
      throw new Error('ClickHouse is away')
    })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    try {
      const answer = await fetch(url + path, { headers: { authorization: 'Bearer acme-key' } })
      await expect(answer.text()).rejects.toThrow()
    } finally {
      await app.close()
    }
  })
})
