import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { runner } from 'node-pg-migrate'
import { pino } from 'pino'
import { afterAll, describe, expect, it } from 'vitest'
import { commandLine, listAudit, noteAudit, noteMend } from '#ledger/audit.js'
import { countPrunableAudit, exportAudit, pruneAudit, verifyAudit, verifyAudits } from '#ledger/audit-chain.js'
import { hashOfName, saltOf } from '#ledger/erasures/gates.js'
import { migrate } from '#ledger/migrate.js'
import { createOrg } from '#ledger/organisations.js'
import { removeFromPostgres } from '#persons/erase/postgres.js'
import { createPool, inTransaction } from '#platform/postgres/postgres.js'
import { packageRoot } from '#platform/process/package-root.js'
import { createFreshDatabase } from '../../support/fresh-database.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'
import { sharedParts } from '../../support/shared-parts.js'

const { pool } = await openMigratedDatabase(20)

const nobody = '00000000-0000-0000-0000-000000000000'
let orgs = 0
const newOrg = () => `org-${++orgs}`
const note = (org: string, subject = 'k', db: Parameters<typeof noteAudit>[0] = pool) =>
  noteAudit(db, commandLine, { org, action: 'key_revoked', subject })
const orgWith = async (entries: number): Promise<string> => {
  const org = newOrg()
  for (let n = 0; n < entries; n++) await note(org, `key ${n}`)
  return org
}
/** What only somebody can do who may switch triggers off. `$1` is the organisation. */
const tamper = (statement: string, org: string) =>
  inTransaction(pool, async (connection) => {
    await connection.query('set local session_replication_role = replica')
    expect((await connection.query(statement, [org])).rowCount).toBeGreaterThan(0)
  })
/** One entry, by its place. */
const at = (place: number) =>
  `(select audit_id from auth.audit where org_id = $1 order by audit_id offset ${place} limit 1)`
const subjectsOf = async (org: string) => (await listAudit(pool, org, { most: 99 })).map(({ subject }) => subject)
const whatIsWrong = async (org: string, head?: string) => (await verifyAudit(pool, org, head)).problem?.what

describe('the chain', () => {
  it('has no fork and the order of its ids, however many write at once', async () => {
    const [org, other] = [newOrg(), newOrg()]
    const writers = Array.from({ length: 20 }, async (_, n) => {
      for (let m = 0; m < 3; m++)
        await inTransaction(pool, async (connection) => {
          await note(n % 2 ? org : other, `${n} ${m}`, connection)
          await note(n % 2 ? org : other, `${n} ${m} too`, connection)
        })
    })
    await Promise.all(writers)
    for (const each of [org, other]) {
      expect(await verifyAudit(pool, each)).toMatchObject({ entries: 60, redacted: 0, problem: null })
      const subjects = await subjectsOf(each)
      // What one transaction writes stands together: nobody else has a place between.
      expect(subjects.filter((_, n) => n % 2 === 0)).toEqual(
        subjects.filter((_, n) => n % 2 === 1).map((subject) => `${subject} too`),
      )
    }
  })

  it('lets no organisation wait for another, and one that gave up leave no gap', async () => {
    const [org, other] = [await orgWith(1), newOrg()]
    const giveUp = inTransaction(pool, async (connection) => {
      await note(org, 'given up', connection)
      await note(other)
      throw new Error('given up')
    })
    await expect(giveUp).rejects.toThrow('given up')
    await note(org, 'after it')
    expect(await verifyAudit(pool, org)).toMatchObject({ entries: 2, problem: null })
    expect(await verifyAudit(pool, other)).toMatchObject({ entries: 1, problem: null })
  })

  it('takes no part in what was noted before', async () => {
    const org = await orgWith(1)
    const mend = { org, keyId: 'k', requestId: randomUUID(), type: 'shops', ids: ['a'] }
    for (let n = 0; n < 3; n++) await noteMend(pool, mend)
    const again = noteAudit(
      pool,
      { actor: 'k', requestId: mend.requestId },
      { org, action: 'records_mended', subject: 'x' },
    )
    await expect(again).rejects.toThrow('audit_once')
    await note(org)
    expect(await verifyAudit(pool, org)).toMatchObject({ entries: 3, problem: null })
  })

  it('is that of what was there before it was made', async () => {
    const database = await createFreshDatabase(sharedParts.POSTGRES_URL)
    const old = createPool(database.url, pino({ level: 'silent' }), 2)
    afterAll(async () => {
      await old.end()
      await database.drop()
    })
    const schema = { migrationsSchema: 'public', migrationsTable: 'migrations_auth', direction: 'up' as const }
    const dir = `${packageRoot}/services/ledger/migrations/auth`
    await runner({ databaseUrl: database.url, dir, ...schema, count: 7, log: () => {} })
    await old.query(
      `insert into auth.audit (org_id, at, actor, action, subject)
      select case when n % 3 = 0 then 'acme' else 'other' end, now() - n * interval '1 hour', 'k', 'key_revoked', n::text
      from generate_series(1, 300) n`,
    )
    await migrate(database.url)
    await note('acme', 'new', old)
    expect(await verifyAudits(old)).toMatchObject([
      { org: 'acme', entries: 101, problem: null },
      { org: 'other', entries: 200, problem: null },
    ])
  })

  it('can be checked with the program in docs/operations.md', async ({ skip }) => {
    if (spawnSync('python3', ['--version']).status !== 0) skip('Python is not there')
    const page = readFileSync(`${packageRoot}/docs/operations.md`, 'utf8')
    const [program = ''] = page.split("check-audit.py <<'END'\n")[1]?.split('\nEND\n') ?? []
    const org = await orgWith(3)
    await tamper(
      `update auth.audit set subject = 'Käse „x“ \\ "', details = '{"ü": [1.50, null]}' where audit_id = ${at(1)}`,
      org,
    )
    await tamper(
      `update auth.audit a set content_sha256 = sha256(salt || convert_to(auth.audit_content(a), 'UTF8')) where audit_id = ${at(1)}`,
      org,
    )
    await tamper(`update auth.audit a set chain = sha256(previous || content_sha256) where audit_id = ${at(1)}`, org)
    await tamper(
      `update auth.audit a set previous = before.chain, chain = sha256(before.chain || a.content_sha256)
      from auth.audit before where a.audit_id = ${at(2)} and before.audit_id = ${at(1)}`,
      org,
    )
    await note(org, randomUUID())
    await pool.query(`update auth.audit set subject = '${nobody}' where audit_id = ${at(3)}`, [org])
    const check = async () => {
      const lines: string[] = []
      for await (const entry of exportAudit(pool, org)) lines.push(`${JSON.stringify(entry)}\n`)
      return spawnSync('python3', ['-c', program], { input: lines.join(''), encoding: 'utf8' })
    }
    const { head } = await verifyAudit(pool, org)
    expect(await check()).toMatchObject({ status: 0, stdout: `4 entries, head ${head}\n` })
    await tamper(`update auth.audit set subject = 'somebody else' where audit_id = ${at(1)}`, org)
    expect(await check()).toMatchObject({ status: 1, stderr: expect.stringContaining('entry 2 ') })
    await tamper(`update auth.audit set salt = null, redacted_at = now() where audit_id = ${at(1)}`, org)
    expect(await check()).toMatchObject({ status: 1, stderr: expect.stringContaining('entry 2 ') })
    await tamper(`delete from auth.audit where audit_id = ${at(1)}`, org)
    expect(await check()).toMatchObject({ status: 1, stderr: expect.stringContaining('entry 2 ') })
  })
})

describe('what is found', () => {
  it.each([
    ['a subject', `subject = 'another key'`],
    ['a time', `at = at - interval '1 minute'`],
    ['who did it', `actor = 'somebody else'`],
    ['details', `details = '{"records": 7}'`],
    ['an id', `audit_id = -audit_id`],
    ['a hash in the chain', `chain = sha256('x')`],
    ['a row that is called redacted', `salt = null, redacted_at = now(), subject = 'x'`],
    ['a salt that is gone', `salt = null`],
  ])('a changed entry: %s', async (_, change) => {
    const org = await orgWith(4)
    await tamper(`update auth.audit set ${change} where audit_id = ${at(2)}`, org)
    expect(await verifyAudit(pool, org)).toMatchObject({ entries: 4, problem: { what: 'changed' } })
  })

  it('an entry whose hashes were made anew', async () => {
    const org = await orgWith(3)
    await tamper(`update auth.audit set content_sha256 = sha256('x') where audit_id = ${at(1)}`, org)
    await tamper(
      `update auth.audit set subject = '${nobody}', salt = null, redacted_at = now(),
        chain = sha256(previous || content_sha256) where audit_id = ${at(1)}`,
      org,
    )
    const [last] = await listAudit(pool, org, { most: 1 })
    expect((await verifyAudit(pool, org)).problem).toEqual({ what: 'removed', at: last?.at, chain: last?.chain })
  })

  it('a removed entry, and where', async () => {
    const org = await orgWith(5)
    const [, , third] = await listAudit(pool, org, { most: 5 })
    await tamper(`delete from auth.audit where audit_id = ${at(1)}`, org)
    expect((await verifyAudit(pool, org)).problem).toEqual({ what: 'removed', at: third?.at, chain: third?.chain })
  })

  it('an entry that was put in, also one whose own hashes are right', async () => {
    const [org, gone] = [await orgWith(2), await orgWith(1)]
    await note(org)
    const { rows } = await pool.query('select audit_id as id from auth.audit where org_id = $1', [gone])
    await tamper('delete from auth.audit where org_id = $1', gone)
    await tamper(
      `insert into auth.audit
      select made.*
      from auth.audit first,
        auth.chained(jsonb_populate_record(first, '{"audit_id": ${rows[0]?.id}, "subject": "forged"}'), sha256('x')) made
      where first.audit_id = ${at(0)}`,
      org,
    )
    const [, forged] = await listAudit(pool, org, { most: 4 })
    expect(forged?.subject).toBe('forged')
    expect((await verifyAudit(pool, org)).problem).toEqual({ what: 'forged', at: forged?.at, chain: forged?.chain })
  })

  it('the newest entries that were cut off, by a head of before', async () => {
    const org = await orgWith(3)
    const { head } = await verifyAudit(pool, org)
    if (!head) throw new Error('the chain has no head')
    await note(org)
    expect(await whatIsWrong(org, head)).toBeUndefined()
    await tamper(`delete from auth.audit where audit_id in (${at(2)}, ${at(3)})`, org)
    expect(await whatIsWrong(org)).toBeUndefined()
    expect(await whatIsWrong(org, head)).toBe('head_missing')
    expect(await whatIsWrong(newOrg(), head)).toBe('head_missing')
  })
})

describe('what is lawful', () => {
  const appendOnly = 'auth.audit is append-only'

  it('is neither a change nor a removal', async () => {
    const org = await orgWith(2)
    await pool.query('insert into auth.audit (org_id, actor, action, subject, details) values ($1, $2, $2, $3, $4)', [
      ...[org, 'k', randomUUID(), { ids: [randomUUID()] }],
    ])
    for (const change of [
      `update auth.audit set subject = 'x' where org_id = $1`,
      `update auth.audit set subject = gen_random_uuid()::text where org_id = $1`,
      `update auth.audit set subject = '${nobody}' where org_id = $1`,
      `update auth.audit set details = '{}' where org_id = $1 and details <> '{}'`,
      `update auth.audit set chain = '' where org_id = $1`,
      `update auth.audit set salt = null, redacted_at = now() where org_id = $1`,
      `delete from auth.audit where org_id = $1`,
    ])
      await expect(pool.query(change, [org]), change).rejects.toThrow(appendOnly)
    await expect(pool.query('truncate auth.audit')).rejects.toThrow(appendOnly)
    expect(await verifyAudit(pool, org)).toMatchObject({ entries: 3, redacted: 0, problem: null })
  })

  it('is pruning by age: of each chain the beginning, also where clocks went back', async () => {
    const [org, other] = [newOrg(), newOrg()]
    const hour = (n: number) => new Date(Date.UTC(2020, 0, 1, n))
    const times: [string, number][] = [
      [org, 1],
      [other, 2],
      [org, 4],
      [org, 3],
      [other, 3],
      [org, 6],
    ]
    for (const [of, time] of times)
      await pool.query(`insert into auth.audit (org_id, at, actor, action, subject) values ($1, $2, 'k', 'x', $3)`, [
        ...[of, hour(time), `hour ${time}`],
      ])
    const { head } = await verifyAudit(pool, org)
    // What was done in hour 3 came after what was done in hour 4, and stays as long.
    const before = async () =>
      (await pool.query('select count(*) as count from auth.audit where org_id not in ($1, $2)', [org, other])).rows[0]
    const others = await before()
    await pool.query('alter table auth.audit disable trigger audit_guarded')
    await pool.query('delete from auth.audit where org_id not in ($1, $2)', [org, other])
    await pool.query('alter table auth.audit enable trigger audit_guarded')
    expect(Number(others?.count)).toBeGreaterThan(0)
    expect(await countPrunableAudit(pool, hour(4))).toBe(2)
    expect([await pruneAudit(pool, hour(4), 1), await pruneAudit(pool, hour(4), 9)]).toEqual([1, 1])
    expect([await subjectsOf(org), await subjectsOf(other)]).toEqual([['hour 6', 'hour 3', 'hour 4'], ['hour 3']])
    expect(await verifyAudit(pool, org, head ?? '')).toMatchObject({ entries: 3, from: hour(4), head, problem: null })
    const gap = inTransaction(pool, async (connection) => {
      await connection.query(`select set_config('weir.audit', 'prune', true)`)
      await connection.query(`delete from auth.audit where audit_id = ${at(1)}`, [org])
    })
    await expect(gap).rejects.toThrow('without a gap')
    // Two that prune at once share the work.
    expect((await Promise.all([1, 2].map(() => pruneAudit(pool, hour(9), 9)))).sort()).toEqual([0, 4])
    expect(await verifyAudit(pool, org)).toEqual({
      org,
      entries: 0,
      redacted: 0,
      from: null,
      head: null,
      problem: null,
    })
    await note(org)
    expect(await verifyAudit(pool, org)).toMatchObject({ entries: 1, problem: null })
  })

  it('is taking the id of a person out: the chain holds, and nobody can find the id by its hash', async () => {
    const org = newOrg()
    await inTransaction(pool, (connection) => createOrg(connection, org))
    const [ann, bob] = [randomUUID(), randomUUID()]
    const noteExport = (subject: string) => noteAudit(pool, commandLine, { org, action: 'person_exported', subject })
    await noteExport(ann.toUpperCase())
    await noteExport(bob)
    await noteMend(pool, { org, keyId: 'k', requestId: randomUUID(), type: 'customers', ids: [ann, bob] })
    const { head } = await verifyAudit(pool, org)
    const salt = await saltOf(pool, org)
    const hashes = [hashOfName(salt, ann).toString('hex')]
    await removeFromPostgres(pool, { orgId: org, salt, persons: new Map([['an erasure', hashes]]), whole: [] })
    expect(await listAudit(pool, org, { most: 9 })).toMatchObject([
      { redacted: true, details: { records: 2, ids: [nobody, bob] } },
      { redacted: false, subject: bob },
      { redacted: true, subject: nobody },
    ])
    expect(await verifyAudit(pool, org, head ?? '')).toMatchObject({ entries: 3, redacted: 2, head, problem: null })
    const { rows } = await pool.query(
      'select count(*) as count from auth.audit where org_id = $1 and redacted_at is not null and salt is null',
      [org],
    )
    expect(rows).toEqual([{ count: 2 }])
  })

  it('is removing an organisation as a whole', async () => {
    const [org, other] = [await orgWith(3), await orgWith(1)]
    await inTransaction(pool, async (connection) => {
      await connection.query(`select set_config('weir.audit', 'delete', true)`)
      await connection.query('delete from auth.audit where org_id = $1', [org])
    })
    expect(await subjectsOf(org)).toEqual([])
    await expect(pool.query('delete from auth.audit where org_id = $1', [other])).rejects.toThrow(appendOnly)
  })
})
