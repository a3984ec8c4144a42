import { execa } from 'execa'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashKey, keyIdOf } from '#ledger/key-text.js'
import { migrate } from '#ledger/migrate.js'
import { createPool, type Pool } from '#platform/postgres/postgres.js'
import { catalogue } from '#schemas/catalogue.js'
import { scopesOf } from '#schemas/derive/scopes.js'
import { createFreshDatabase } from '../../../support/fresh-database.js'
import { runWeir } from '../../../support/run-weir.js'
import { sharedParts } from '../../../support/shared-parts.js'

type Issued = { key_id: string; key: string; org: string; scopes: string[]; expires_at: string | null }
type Listed = Omit<Issued, 'key'> & {
  state: string
  created_at: string
  revoked_at: string | null
  last_used_at: string | null
}
type Rotated = Issued & { replaces: { key_id: string; expires_at: string } }

let database: Awaited<ReturnType<typeof createFreshDatabase>>
let pool: Pool

const weir = (...words: string[]) => runWeir(words, { POSTGRES_URL: database.url })

// The right to make other keys is given by name alone.
const all = scopesOf(catalogue).filter((scope) => scope !== 'keys:manage')

const answerOf = async <T>(...words: string[]): Promise<T> => {
  const { stdout, stderr, exitCode } = await weir(...words, '--json')
  expect(exitCode, stderr).toBe(0)
  expect(stdout).not.toContain('\n')
  return JSON.parse(stdout) as T
}

beforeAll(async () => {
  database = await createFreshDatabase(sharedParts.POSTGRES_URL)
  pool = createPool(database.url, pino({ level: 'silent' }), 1)
  await migrate(database.url)
})

afterAll(async () => {
  await pool?.end()
  await database?.drop()
})

describe('weir keys issue', () => {
  it('makes a key whose hash alone is stored, and its organisation', async () => {
    const { stdout, stderr } = await weir('keys', 'issue', '--org', 'fresh', '--json')
    const issued = JSON.parse(stdout) as Issued
    expect(stderr).toContain('created the organisation fresh')
    expect(issued).toEqual({
      key_id: keyIdOf(issued.key),
      key: issued.key,
      name: null,
      org: 'fresh',
      scopes: all,
      expires_at: null,
    })
    const { rows } = await pool.query('select * from auth.api_keys where key_id = $1', [issued.key_id])
    expect(rows[0]).toMatchObject({ org_id: 'fresh', scopes: null, key_hash: hashKey(issued.key) })
    expect(JSON.stringify(rows)).not.toContain(issued.key)
  })

  it('keeps to the scopes and the lifetime that it is given', async () => {
    const words = ['--org', 'narrow', '--scopes', 'shops:write,tags:write', '--expires', '90d']
    const { scopes, expires_at } = await answerOf<Issued>('keys', 'issue', ...words)
    expect(scopes).toEqual(['shops:write', 'tags:write'])
    const days = (Date.parse(expires_at ?? '') - Date.now()) / 86_400_000
    expect(days).toBeCloseTo(90, 2)
  })

  it('gives the right to make keys by name alone', async () => {
    const manager = await answerOf<Issued>('keys', 'issue', '--org', 'managed', '--manage')
    expect(manager.scopes).toEqual(['all', 'keys:manage'])
    expect((await answerOf<Issued>('keys', 'issue', '--org', 'managed', '--scopes', 'all')).scopes).toEqual(all)
    const { rows } = await pool.query(`select scopes from auth.api_keys where org_id = 'managed' order by created_at`)
    expect(rows).toEqual([{ scopes: ['all', 'keys:manage'] }, { scopes: null }])
  })

  it('shows people the key alone on standard output, and says that it will not again', async () => {
    const { stdout, stderr } = await weir('keys', 'issue', '--org', 'people')
    expect(keyIdOf(stdout)).toBeDefined()
    expect(stderr).toContain('it will not be shown again')
  })

  it.each([
    [['--org', 'Not-Right'], "cannot be an organisation's id"],
    [['--org', 'right', '--scopes', 'shop:write'], 'did you mean shops:write?'],
    [['--org', 'right', '--name', ' '], 'a name has 1 to 100 characters'],
    [['--org', 'right', '--manage', '--scopes', 'shops:write'], '--manage stands for'],
    [['--org', 'right', '--expires', 'soon'], '"soon" is not a duration'],
    [[], '--org says whom the key speaks for'],
  ])('refuses %j in one line, and makes nothing', async (words, reason) => {
    const { stdout, stderr, exitCode } = await weir('keys', 'issue', ...words)
    expect(exitCode).toBe(1)
    expect(stdout).toBe('')
    expect(stderr.split('\n')[0]).toContain(reason)
    const { rowCount } = await pool.query(`select from auth.organisations where org_id in ('right', 'Not-Right')`)
    expect(rowCount).toBe(0)
  })
})

it("issues an operator's key, for an organisation of operators unless said otherwise", async () => {
  const issued = await answerOf<Issued & { is_operator?: boolean }>('keys', 'issue', '--operator')
  expect(issued).toMatchObject({ org: 'weir-operators', is_operator: true })
  const rotated = await answerOf<Issued>('keys', 'rotate', issued.key_id)
  const listed = await answerOf<(Listed & { is_operator: boolean })[]>('keys', 'list', '--org', 'weir-operators')
  expect(listed.map(({ key_id, is_operator }) => [key_id, is_operator])).toEqual([
    [issued.key_id, true],
    [rotated.key_id, true],
  ])
  expect(await answerOf<Issued>('keys', 'issue', '--org', 'plain-org')).not.toHaveProperty('is_operator')
})

describe('weir keys list', () => {
  it('shows state and dates, and never a secret', async () => {
    const issued = await answerOf<Issued>(
      'keys',
      'issue',
      '--org',
      'listed',
      '--expires',
      '1h',
      '--name',
      'nightly upload',
    )
    const listed = await answerOf<Listed[]>('keys', 'list', '--org', 'listed')
    expect(listed).toEqual([
      {
        key_id: issued.key_id,
        is_operator: false,
        org: 'listed',
        name: 'nightly upload',
        scopes: all,
        created_at: expect.any(String),
        created_by: 'weir command',
        revoked_by: null,
        expires_at: issued.expires_at,
        revoked_at: null,
        last_used_at: null,
        state: 'active',
      },
    ])
    const { stdout: table } = await weir('keys', 'list')
    expect(table).toContain(issued.key_id)
    expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    for (const shown of [table, JSON.stringify(listed)]) expect(shown).not.toContain(issued.key.slice(-20))
  })

  it('shows what people call a key, who made it and who ended it', async () => {
    const { key_id } = await answerOf<Issued>('keys', 'issue', '--org', 'named')
    expect(await answerOf('keys', 'rename', key_id, 'the tills')).toEqual({ key_id, org: 'named', name: 'the tills' })
    await weir('keys', 'revoke', key_id)
    const by = { created_by: 'weir command', revoked_by: 'weir command' }
    expect(await answerOf('keys', 'list', '--org', 'named')).toMatchObject([{ key_id, name: 'the tills', ...by }])
    expect((await weir('keys', 'list', '--org', 'named')).stdout).toContain('the tills')
    const { rows } = await pool.query(`select action, actor from auth.audit where org_id = 'named' order by audit_id`)
    expect(rows.map(({ action, actor }) => `${action} by ${actor}`)).toEqual([
      'key_issued by weir command',
      'key_renamed by weir command',
      'key_revoked by weir command',
    ])
  })

  it('is an empty list for an organisation without keys', async () => {
    expect(await answerOf('keys', 'list', '--org', 'nobody')).toEqual([])
  })
})

describe('weir keys revoke', () => {
  it('ends a key for good, and may be repeated', async () => {
    const { key_id } = await answerOf<Issued>('keys', 'issue', '--org', 'revoked')
    const first = await answerOf<{ revoked_at: string }>('keys', 'revoke', key_id)
    expect(await answerOf('keys', 'revoke', key_id)).toEqual(first)
    expect(await answerOf('keys', 'list', '--org', 'revoked')).toMatchObject([{ key_id, state: 'revoked' }])
  })

  it('says that a key is unknown', async () => {
    const { stderr, exitCode } = await weir('keys', 'revoke', 'nosuchkey')
    expect(exitCode).toBe(1)
    expect(stderr).toBe('weir: there is no key nosuchkey: "npm run -s weir -- keys list" shows those there are')
  })
})

describe('weir keys rotate', () => {
  it('makes a like key, and lets the old one live for the grace', async () => {
    const old = await answerOf<Issued>('keys', 'issue', '--org', 'rotated', '--scopes', 'tags:write')
    const made = await answerOf<Rotated>('keys', 'rotate', old.key_id, '--grace', '2h')
    expect(made).toMatchObject({ org: 'rotated', scopes: ['tags:write'], expires_at: null })
    expect(made.key_id).not.toBe(old.key_id)
    expect(made.replaces.key_id).toBe(old.key_id)
    expect((Date.parse(made.replaces.expires_at) - Date.now()) / 3_600_000).toBeCloseTo(2, 1)
    const states = (await answerOf<Listed[]>('keys', 'list', '--org', 'rotated')).map(({ state }) => state)
    expect(states).toEqual(['active', 'active'])
  })

  it('ends the old one at once with no grace, and then it cannot be rotated again', async () => {
    const old = await answerOf<Issued>('keys', 'issue', '--org', 'ended', '--expires', '30d')
    const made = await answerOf<Rotated>('keys', 'rotate', old.key_id, '--grace', '0')
    expect((Date.parse(made.expires_at ?? '') - Date.now()) / 86_400_000).toBeCloseTo(30, 2)
    const listed = await answerOf<Listed[]>('keys', 'list', '--org', 'ended')
    expect(listed.find(({ key_id }) => key_id === old.key_id)?.state).toBe('revoked')
    const { stderr, exitCode } = await weir('keys', 'rotate', old.key_id)
    expect([exitCode, stderr]).toEqual([1, `weir: the key ${old.key_id} is revoked: issue a new one for ended`])
  })
})

describe('weir orgs', () => {
  it('creates once and lists', async () => {
    expect(await answerOf('orgs', 'create', 'plain')).toEqual({ org: 'plain', created: true })
    expect(await answerOf('orgs', 'create', 'plain')).toEqual({ org: 'plain', created: false })
    expect(await answerOf('orgs', 'list')).toContainEqual({
      org: 'plain',
      created_at: expect.any(String),
      active_keys: 0,
      requests_per_second: null,
      records_per_second: null,
    })
  })

  it('limits what an organisation sends, one limit at a time', async () => {
    await answerOf('orgs', 'create', 'limited')
    const limits = (...words: string[]) => answerOf('orgs', 'limits', 'limited', ...words)
    expect(await limits('--requests', '50')).toEqual({
      org: 'limited',
      requests_per_second: 50,
      records_per_second: null,
    })
    expect(await limits('--records', '0')).toMatchObject({ requests_per_second: 50, records_per_second: 0 })
    expect(await limits('--requests', 'default')).toMatchObject({ requests_per_second: null, records_per_second: 0 })
    expect((await weir('orgs', 'list')).stdout).toMatch(/limited .* default +no limit$/m)
    const { stderr, exitCode } = await weir('orgs', 'limits', 'nobody', '--requests', '5')
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('there is no organisation nobody')])
  })
})

it('says in one line, without the password, that Postgres is away', async () => {
  const env = { POSTGRES_URL: 'postgres://weir:geheim@127.0.0.1:1/weir' }
  const words = ['dist/services/operator/main.js', 'keys', 'list']
  const { stderr, exitCode } = await execa(process.execPath, words, { env, reject: false })
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(
    /^weir: Postgres does not answer at postgres:\/\/weir@127\.0\.0\.1:1\/weir .*is npm start running\?.*$/,
  )
})
