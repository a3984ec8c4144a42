import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listAudit } from '#ledger/audit.js'
import { type Erasure, endErasure, findErasure, noteFound, noteStep } from '#ledger/erasures/erasures.js'
import { hashOfName, saltOf } from '#ledger/erasures/gates.js'
import { createOrg } from '#ledger/organisations.js'
import { createClickHouse } from '#platform/clickhouse.js'
import { fill } from '../../../schemas/marts/small-world.js'
import { makeTables } from '../../../support/make-tables.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'
import { runWeir } from '../../../support/run-weir.js'
import { sharedParts } from '../../../support/shared-parts.js'

const { url, pool } = await openMigratedDatabase()
const clickhouse = createClickHouse(sharedParts.CLICKHOUSE_URL)
const weir = (...words: string[]) => runWeir(['erasures', ...words], { ...sharedParts, POSTGRES_URL: url })

// Organisations have ids of their own in each run: tests share ClickHouse.
const org = `h${randomUUID().slice(0, 8)}`
let folder = ''
beforeAll(async () => {
  await createOrg(pool, org)
  folder = await mkdtemp(join(tmpdir(), 'weir-erasures-'))
})
afterAll(async () => {
  await clickhouse.close()
  await rm(folder, { recursive: true })
})

const create = (person: string, ...more: string[]) =>
  weir('create', '--org', org, '--person', person, '--mode', 'erase', ...more)
const known = async (erasureId: string): Promise<Erasure> =>
  (await findErasure(pool, erasureId)) ?? expect.fail(`there is no erasure ${erasureId}`)
const asked = async (person: string): Promise<string> => {
  const find = async () =>
    (await pool.query('select erasure_id from erasure.erasures where person_id = $1', [person])).rows[0]?.erasure_id
  await expect.poll(find).toBeDefined()
  return find()
}
/** What the delivery service does first: it finds out whom it is about. */
const identify = async (erasureId: string, person: string): Promise<void> => {
  const hash = hashOfName(await saltOf(pool, org), person)
  await pool.query('update erasure.erasures set names_sha256 = $2 where erasure_id = $1', [erasureId, [hash]])
}

describe('weir erasures create', () => {
  it('asks for it, once while it runs, and names nobody in the audit', async () => {
    const { stdout: erasureId, stderr, exitCode } = await create('anna', '--yes')
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining(`erasures show ${erasureId}`)])
    expect((await create('anna', '--yes')).stdout).toBe(erasureId)
    expect(await known(erasureId)).toMatchObject({
      personId: 'anna',
      mode: 'erase',
      isDryRun: false,
      afterwards: 'refuse',
    })
    const audit = await listAudit(pool, org, { most: 10 })
    expect(audit).toMatchObject([{ action: 'erasure_asked', subject: erasureId }])
    expect(JSON.stringify(audit)).not.toContain('anna')
  })

  it('removes nothing that nobody has confirmed; a dry run needs no yes', async () => {
    const refused = await create('bert')
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining('add --yes, or --dry-run')])
    const { stdout } = await create('bert', '--dry-run', '--afterwards', 'new', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ org, dry_run: true, afterwards: 'new', status: 'running' })
    expect(stdout).not.toContain('bert')
  })

  it('shows the steps while it waits, and ends with how it ended', async () => {
    const waiting = create('cleo', '--dry-run', '--wait')
    const erasureId = await asked('cleo')
    await noteStep(pool, [erasureId], 'reading the topics')
    await noteFound(pool, new Map([[erasureId, [{ where: 'weir.rejected', count: 3 }]]]))
    // The command looks twice a second, and this step is to be seen.
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    await endErasure(pool, await known(erasureId), { report: '{}', signature: 'c2ln' })
    const { stdout, stderr, exitCode } = await waiting
    expect(exitCode).toBe(0)
    expect(stderr.split('\n')).toEqual([`erasure ${erasureId}`, '  reading the topics', '  done'])
    expect(stdout).toContain('weir.rejected  3')
  })

  it('ends with 1 where it has failed', async () => {
    const waiting = create('dora', '--yes', '--wait')
    await pool.query(
      `update erasure.erasures set status = 'failed', problem = 'a topic is away' where erasure_id = $1`,
      [await asked('dora')],
    )
    const { stdout, exitCode } = await waiting
    expect([exitCode, stdout]).toEqual([1, expect.stringContaining('failed: asked; a topic is away')])
  })

  it.each([
    [['--org', 'nobody', '--person', 'a', '--mode', 'erase'], 'there is no organisation nobody'],
    [['--org', org, '--person', ' ', '--mode', 'erase'], 'of 1 to 1000 characters'],
    [['--org', org, '--person', 'a', '--mode', 'eraze'], 'did you mean erase?'],
    [['--org', org, '--person', 'a', '--mode', 'erase', '--afterwards', 'never'], 'known are refuse, new'],
  ])('refuses %j', async (words, problem) => {
    const { stderr, exitCode } = await weir('create', ...words)
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(problem)])
  })
})

describe('weir erasures list, show', () => {
  it('show them in lines that fit, and name nobody', async () => {
    const erasureId = (await create('emil', '--yes')).stdout
    const list = await weir('list', '--org', org)
    expect(list.stdout).toContain('running: asked')
    for (const line of list.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    const show = await weir('show', erasureId)
    expect(show.stdout).toContain(`erasure ${erasureId} of ${org}: erase`)
    expect(show.stdout).toContain('found    not counted yet')
    expect(JSON.parse((await weir('show', erasureId, '--json')).stdout)).toMatchObject({
      org,
      report: null,
      signature: null,
    })
    for (const { stdout } of [list, show]) expect(stdout).not.toContain('emil')
  })

  it('say so where there is none', async () => {
    expect((await weir('list', '--org', 'empty')).stderr).toContain('"npm run -s weir -- erasures create" asks for it')
    for (const id of ['nonsense', randomUUID()])
      expect(await weir('show', id)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('erasures list') })
  })
})

describe('weir erasures again', () => {
  it('has those that ended done once more, by name or since a moment, and no dry run', async () => {
    const [done = '', dry = '', running = ''] = await Promise.all(
      [['--yes'], ['--dry-run'], ['--yes']].map(async (words, n) => (await create(`again ${n}`, ...words)).stdout),
    )
    for (const id of [done, dry]) await endErasure(pool, await known(id), { report: '{}', signature: 'c2ln' })
    expect(await weir('again', done, '--json')).toMatchObject({ exitCode: 0, stdout: '{"erasures":1}' })
    const repeated = await known(done)
    expect(repeated).toMatchObject({ status: 'running', personId: null, known: { customerIds: [], userIds: [] } })

    await endErasure(pool, repeated, { report: '{}', signature: 'c2ln' })
    expect((await weir('again', '--since', '2000-01-01')).exitCode).toBe(0)
    expect([(await known(done)).status, (await known(dry)).status]).toEqual(['running', 'done'])
    const asNew = (await create('again as new', '--yes', '--afterwards', 'new')).stdout
    await endErasure(pool, await known(asNew), { report: '{}', signature: 'c2ln' })
    for (const [words, problem] of [
      [[asNew], 'somebody new'],
      [[running], 'runs already'],
      [[dry], 'was a dry run'],
      [[], 'which erasures?'],
      [[done, '--since', '1d'], 'which erasures?'],
      [['--since', 'yesterday'], '--since takes'],
    ] as const)
      expect(await weir('again', ...words)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(problem) })
  })

  it('begins at once what has failed, also where the person is taken as somebody new afterwards', async () => {
    const erasureId = (await create('again failed', '--yes', '--afterwards', 'new')).stdout
    await pool.query(
      `update erasure.erasures set status = 'failed', ended_at = now(), problem = 'a topic is away' where erasure_id = $1`,
      [erasureId],
    )
    const { stdout } = await weir('show', erasureId)
    expect(stdout).toContain('failed   ')
    expect(stdout).toContain(`next     it is tried on every hour; "weir erasures again ${erasureId}" begins it at once`)
    expect(await weir('again', erasureId, '--json')).toMatchObject({ exitCode: 0, stdout: '{"erasures":1}' })
    expect(await known(erasureId)).toMatchObject({ status: 'running', personId: 'again failed', problem: null })
  })
})

describe('weir erasures prove', () => {
  it('says what is left, and proves that nothing is', async () => {
    await makeTables(clickhouse)
    const person = randomUUID()
    await fill(clickhouse, org, { customers: [{ customer_id: person, user_id: person, region: 'GB' }] })
    const erasureId = (await create(person, '--yes')).stdout
    // Nobody has found out yet whom it is about: that is no zero.
    expect(await weir('prove', erasureId)).toMatchObject({ exitCode: 2, stdout: '' })
    await identify(erasureId, person)

    const left = await weir('prove', erasureId, '--json')
    expect(left.exitCode).toBe(1)
    expect(JSON.parse(left.stdout).left).toContainEqual({ where: 'weir.customers_log', count: expect.any(Number) })
    expect(left.stdout).not.toContain(person)
    expect(left.stderr).toContain('It still runs')
    const inWords = await weir('prove', erasureId)
    expect(inWords.stdout).not.toMatch(/signature|PUBLIC KEY/)
    expect(inWords.stderr).toContain('With --out <file> the signed proof')

    for (const table of ['customers_log', 'customers_current'])
      await clickhouse.command(`alter table weir.${table} delete where org_id = '${org}' settings mutations_sync = 2`)
    const file = join(folder, 'proof.json')
    await pool.query('update erasure.erasures set person_id = null where erasure_id = $1', [erasureId])
    const proved = await weir('prove', erasureId, '--out', file)
    expect([proved.exitCode, proved.stderr]).toEqual([0, expect.stringContaining(`erasures check ${file}`)])
    expect(proved.stdout).toContain(`Nothing is left of the person of erasure ${erasureId}`)
    expect(Object.keys(JSON.parse(await readFile(file, 'utf8')))).toEqual(['report', 'signature', 'public_key'])
    expect(await weir('check', file)).toMatchObject({ exitCode: 0 })
    // Its own proof is not written over.
    expect(await weir('prove', erasureId, '--out', file)).toMatchObject({
      ...{ exitCode: 2, stderr: expect.stringContaining('is there already') },
    })
  })

  it('is no proof where something cannot be read', async () => {
    const erasureId = (await create('fritz', '--yes')).stdout
    await identify(erasureId, 'fritz')
    const { stdout, stderr, exitCode } = await runWeir(['erasures', 'prove', erasureId], {
      ...{ ...sharedParts, POSTGRES_URL: url, CLICKHOUSE_URL: 'http://127.0.0.1:1' },
    })
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain('it cannot be said whether something is left: ClickHouse does not answer')
  })

  it('is none of a dry run', async () => {
    const erasureId = (await create('gina', '--dry-run')).stdout
    expect(await weir('prove', erasureId)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('dry run') })
  })
})
