import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { createKeyText, keyIdOf, keyTextOf, randomText } from '#ledger/key-text.js'
import { tag } from '#schemas/records/tag.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { openPostgresLink } from '../support/postgres-link.js'
import { sampleOf } from '../support/sample.js'
import { startEdge } from '../support/system/another-service.js'
import { newOrganisation, operate, system } from '../support/system/system.js'
import { createUploader } from '../support/system/uploader.js'

type Issued = { key_id: string; key: string }

// A second edge, which reaches Postgres by a way of its own.
const link = await openPostgresLink(system.env.POSTGRES_URL)
const edge = await startEdge({ POSTGRES_URL: link.url })
const second = edge.url
afterAll(async () => {
  await edge.stop()
  await link.close()
})

/** What an edge says to a key, on a route that needs nothing else of Postgres. */
const say = async (url: string, key: string): Promise<number> =>
  (await createUploader(url, key).get('/user-interactions?limit=1')).status
const sayBoth = (key: string) => Promise.all([say(system.edgeUrl, key), say(second, key)])
const newKey = async () => {
  const { key } = await newOrganisation('trust')
  return { key, keyId: keyIdOf(key) ?? '' }
}

// Made first and looked at last, so that nobody has to wait for its end.
const expiring = await operate<Issued & { expires_at: string }>([
  'keys',
  'issue',
  '--org',
  `expires-${randomText(6).toLowerCase()}`,
  '--expires',
  '20s',
])
it('a key that is going to expire works', async () => expect(await sayBoth(expiring.key)).toEqual([200, 200]))

describe('on every edge, within two seconds,', () => {
  it('a revoked key is refused', async () => {
    const { key, keyId } = await newKey()
    expect(await sayBoth(key)).toEqual([200, 200])
    await operate(['keys', 'revoke', keyId])
    await eventually(async () => expect(await sayBoth(key)).toEqual([401, 401]), 2_000)
  })

  it('a key that was rotated without grace is refused, and the new one holds', async () => {
    const { key, keyId } = await newKey()
    expect(await sayBoth(key)).toEqual([200, 200])
    const made = await operate<Issued>(['keys', 'rotate', keyId, '--grace', '0'])
    await eventually(async () => expect(await sayBoth(key)).toEqual([401, 401]), 2_000)
    expect(await sayBoth(made.key)).toEqual([200, 200])
  })

  it('a key that was rotated with a short grace runs out after it', async () => {
    const { key, keyId } = await newKey()
    expect(await sayBoth(key)).toEqual([200, 200])
    const made = await operate<Issued & { replaces: { expires_at: string } }>([
      'keys',
      'rotate',
      keyId,
      '--grace',
      '4s',
    ])
    expect(await sayBoth(made.key)).toEqual([200, 200])
    const ends = Date.parse(made.replaces.expires_at)
    if (Date.now() < ends - 1_000) expect(await sayBoth(key)).toEqual([200, 200])
    await eventually(async () => expect(await sayBoth(key)).toEqual([401, 401]), ends - Date.now() + 2_000)
  })
})

it('a key without the scope is told which one it needs', async () => {
  const { uploader } = await newOrganisation('narrow', 'tags:write')
  expect((await uploader.upload('tags', [sampleOf(tag)])).status).toBe(200)
  const refusals = await Promise.all([
    uploader.upload('shops', []),
    uploader.interact({}),
    uploader.get('/user-interactions'),
    uploader.get(`/v1/requests/${randomUUID()}`),
  ])
  expect(refusals.map(({ status, body }) => [status, (body as unknown as { message: string }).message])).toEqual(
    ['shops:write', 'interactions:write', 'interactions:read', 'requests:read'].map((scope) => [
      403,
      expect.stringContaining(scope),
    ]),
  )
})

describe('a guess', () => {
  const asks = async (keys: string[]) => {
    const before = link.timesAsked('find-key')
    for (const key of keys) expect(await say(second, key)).toBe(401)
    return link.timesAsked('find-key') - before
  }

  it('that is no key at all costs no query', async () => {
    const { key } = await newKey()
    const last = key.endsWith('0') ? '1' : '0'
    const mistyped = [`${key.slice(0, -1)}${last}`, key.slice(0, -1), `${key}0`, key.toLowerCase(), 'weir_', 'x']
    expect(await asks(mistyped)).toBe(0)
    expect(await say(second, key)).toBe(200)
  })

  it('costs the same for an id that exists as for one that does not', async () => {
    const { key, keyId } = await newKey()
    expect(await say(second, key)).toBe(200)
    const guesses = (idOf: () => string) => Array.from({ length: 20 }, () => keyTextOf(idOf(), randomText(32)))
    expect(await asks(guesses(() => keyId))).toBe(20)
    expect(await asks(guesses(() => createKeyText().keyId))).toBe(20)
  })
})

describe('while Postgres is away', () => {
  /** Asks until the edge has the key in its memory: an answer that a change of keys overtakes is not kept. */
  const isRemembered = (key: string) =>
    eventually(async () => {
      const before = link.timesAsked('find-key')
      expect(await say(second, key)).toBe(200)
      expect(link.timesAsked('find-key')).toBe(before)
    })

  it('keys seen before go on working, readiness says so, and a revocation holds once it is back', async () => {
    const seen = await newKey()
    const revoked = await newKey()
    const unseen = await newKey()
    await isRemembered(seen.key)
    await isRemembered(revoked.key)
    await link.cut()
    try {
      await operate(['keys', 'revoke', revoked.keyId])
      await eventually(async () => {
        const { parts } = (await (await fetch(`${second}/readyz`)).json()) as { parts: Record<string, unknown> }
        expect(parts.postgres).toEqual({
          ok: false,
          problem: expect.stringContaining('keys seen in the last 5 minutes still work'),
        })
      })
      // Longer than a key counts as fresh while nobody listens.
      for (const end = Date.now() + 3_000; Date.now() < end; ) expect(await say(second, seen.key)).toBe(200)
      expect(await say(second, unseen.key)).toBe(503)
    } finally {
      await link.mend()
    }
    await eventually(async () => expect(await say(second, revoked.key)).toBe(401), 5_000)
    expect(await say(second, unseen.key)).toBe(200)
    await eventually(async () => expect((await fetch(`${second}/readyz`)).status).toBe(200))
  })

  itDeep('and does not even refuse connections, keys seen before are not kept waiting', async () => {
    const { key } = await newKey()
    const unseen = await newKey()
    await isRemembered(key)
    link.freeze()
    try {
      const order: string[] = []
      const waits = say(second, unseen.key).then((status) => order.push(`unseen ${status}`))
      for (const _ of [1, 2, 3]) order.push(`seen ${await say(second, key)}`)
      await waits
      expect(order).toEqual(['seen 200', 'seen 200', 'seen 200', 'unseen 503'])
    } finally {
      link.thaw()
    }
    await eventually(async () => expect((await fetch(`${second}/readyz`)).status).toBe(200))
  })
})

it('an expired key is refused', async () => {
  const left = Math.max(0, Date.parse(expiring.expires_at) - Date.now())
  await eventually(async () => expect(await sayBoth(expiring.key)).toEqual([401, 401]), left + 2_000)
})
