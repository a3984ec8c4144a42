import { expect, it } from 'vitest'
import { commandLine, noteAudit } from '#ledger/audit.js'
import { createOrg } from '#ledger/organisations.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'
import { runWeir } from '../../../support/run-weir.js'

const { url, pool } = await openMigratedDatabase()
const audit = (...words: string[]) => runWeir(['audit', ...words], { POSTGRES_URL: url })
const note = (org: string, subject: string) => noteAudit(pool, commandLine, { org, action: 'key_revoked', subject })

it('lists, verifies and exports what was done, and says by its exit code what was found', async () => {
  expect(await audit('verify')).toMatchObject({ stdout: '0 of 0 chains hold', exitCode: 0 })
  for (const subject of ['k1', 'k2', 'k3']) await note('acme', subject)
  await note('other', 'k4')
  const list = await audit('list', '--org', 'acme', '--limit', '2', '--json')
  const listed = list.stdout.split('\n').map((line) => JSON.parse(line))
  expect(listed).toMatchObject([{ subject: 'k3', actor: 'weir command', redacted: false }, { subject: 'k2' }])
  expect((await audit('list')).stdout).toMatch(/WHEN +ORG +WHAT +OF +BY +CHAIN\n.* other +key_revoked +k4 /)

  await noteAudit(pool, commandLine, {
    ...{ org: '*', action: 'retention_set', subject: 'shops', details: { keep: '30d' } },
  })
  expect((await audit('list', '--org', '*', '--json')).stdout).toContain('"action":"retention_set"')
  expect((await audit('verify', '--org', '*')).stdout).toMatch(/^\*: holds, 1 entry since/)
  await noteAudit(pool, commandLine, {
    ...{ org: 'dry', action: 'erasure_asked', subject: 'e1', details: { mode: 'erase', dry_run: true } },
  })
  expect((await audit('list', '--org', 'dry')).stdout).toContain(' erasure_asked, dry run ')

  const verified = await audit('verify', '--org', 'acme', '--json')
  const { head } = JSON.parse(verified.stdout)
  expect(JSON.parse(verified.stdout)).toMatchObject({ org: 'acme', holds: true, entries: 3, head: listed[0].chain })
  const words = await audit('verify', '--org', 'acme', '--head', head)
  expect(words).toMatchObject({ stdout: expect.stringContaining(`acme: holds, 3 entries since `), exitCode: 0 })
  const exported = (await audit('export', '--org', 'acme')).stdout.split('\n').map((line) => JSON.parse(line))
  expect(exported.map(({ chain }) => chain).slice(1)).toEqual([listed[1].chain, head])
  expect(exported.map(({ content }) => JSON.parse(content).subject)).toEqual(['k1', 'k2', 'k3'])

  await pool.query(`begin; set local session_replication_role = replica;
    delete from auth.audit where subject = 'k3'; update auth.audit set subject = 'k5' where subject = 'k4'; commit`)
  const cut = await audit('verify', '--org', 'acme', '--head', head)
  expect(cut).toMatchObject({
    stdout: expect.stringMatching(/^acme: does not hold\. No entry has this head/),
    exitCode: 1,
  })
  const all = await audit('verify')
  expect(all.stdout).toMatch(/^other: does not hold\. An entry is not what it was .*\n3 of 4 chains hold$/)
  expect(all.exitCode).toBe(1)
})

it('says what cannot be found out', async () => {
  expect(await audit('verify', '--head', '0'.repeat(64))).toMatchObject({ exitCode: 2 })
  expect(await audit('verify', '--org', 'acme', '--head', 'x')).toMatchObject({ exitCode: 2 })
  expect(await audit('verify', '--org', 'nobody')).toMatchObject({
    ...{ stderr: expect.stringContaining('there is no organisation nobody'), exitCode: 2 },
  })
  await createOrg(pool, 'silent')
  expect(await audit('verify', '--org', 'silent')).toMatchObject({
    ...{ stdout: 'silent: nothing was done yet, or all of it is too old', exitCode: 0 },
  })
  const away = await runWeir(['audit', 'verify'], { POSTGRES_URL: 'postgresql://nobody@127.0.0.1:1/none' })
  expect(away).toMatchObject({ stderr: expect.stringContaining('it cannot be said'), exitCode: 2 })
})
