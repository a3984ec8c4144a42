import { describe, expect, it } from 'vitest'
import { acme, createEdge } from '../../edge/edge.js'
import { createFakeErasures } from '../fakes/erasures.fake.js'

const open = () => {
  const erasures = createFakeErasures()
  const edge = createEdge({ erasures })
  edge.callers.set('eraser', { ...acme, scopes: ['persons:erase'] })
  const send = (method: 'GET' | 'POST', path: string, body?: object, key = 'eraser') =>
    edge.send(method, `/v1/erasures${path}`, body, { authorization: `Bearer ${key}` })
  const ask = async (more: object = {}) => (await send('POST', '', { person_id: 'anna', mode: 'erase', ...more })).body
  const end = (erasureId: string) => {
    const erasure = erasures.all.get(erasureId) ?? expect.fail('it was not asked for')
    Object.assign(erasure, {
      status: 'done',
      step: 'done',
      endedAt: new Date(1),
      report: '{"left":[]}',
      signature: 'c2ln',
    })
  }
  return { ...edge, send, ask, end, erasures }
}

describe('/v1/erasures', () => {
  it('takes what is asked for, and refuses later uploads if nothing else is said', async () => {
    const { send, erasures } = open()
    const { status, body } = await send('POST', '', { person_id: 'anna', mode: 'pseudonymise' })
    expect([status, body]).toEqual([
      202,
      expect.objectContaining({ mode: 'pseudonymise', afterwards: 'refuse', dry_run: false, status: 'running' }),
    ])
    expect(JSON.stringify(body)).not.toContain('anna')
    expect(erasures.all.get(body.erasure_id)).toMatchObject({ orgId: 'acme', personId: 'anna', askedBy: 'k1' })
  })

  it('has the proof when it is done, and not before', async () => {
    const { send, ask, end } = open()
    const { erasure_id } = await ask()
    expect((await send('GET', `/${erasure_id}`)).body).toMatchObject({ status: 'running', proof: null })
    end(erasure_id)
    expect((await send('GET', `/${erasure_id}`)).body).toMatchObject({
      status: 'done',
      proof: { report: '{"left":[]}', signature: 'c2ln', public_key: expect.stringContaining('PUBLIC KEY') },
    })
    const { erasures } = (await send('GET', '')).body
    expect(erasures).toMatchObject([{ erasure_id, status: 'done' }])
    expect(erasures[0]).not.toHaveProperty('proof')
  })

  it('proves nothing by a dry run', async () => {
    const { send, ask, end } = open()
    const { erasure_id } = await ask({ dry_run: true })
    end(erasure_id)
    expect((await send('GET', `/${erasure_id}`)).body).toMatchObject({ dry_run: true, status: 'done', proof: null })
  })

  it('shows nobody the erasures of others, and needs persons:erase', async () => {
    const { send, ask, callers } = open()
    const { erasure_id } = await ask()
    callers.set('stranger', { orgId: 'other', keyId: 'k9', scopes: ['persons:erase'] })
    expect((await send('GET', `/${erasure_id}`, undefined, 'stranger')).status).toBe(404)
    expect((await send('GET', '', undefined, 'stranger')).body).toEqual({ erasures: [] })
    expect((await send('GET', '/nonsense')).status).toBe(404)
    callers.set('reader', { ...acme, scopes: ['persons:read'] })
    for (const [method, path] of [['GET', ''] as const, ['GET', `/${erasure_id}`] as const, ['POST', ''] as const])
      expect(
        (await send(method, path, method === 'POST' ? { person_id: 'anna', mode: 'erase' } : undefined, 'reader'))
          .status,
      ).toBe(403)
  })

  it.each([
    [{ mode: 'erase' }],
    [{ person_id: '', mode: 'erase' }],
    [{ person_id: 'anna', mode: 'shred' }],
    [{ person_id: 'anna', mode: 'erase', afterwards: 'never' }],
    [{ person_id: 'anna', mode: 'erase', dryrun: true }],
  ])('refuses %j', async (body) => {
    expect((await open().send('POST', '', body)).status).toBe(400)
  })
})
