import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { openMigratedDatabase } from '../../../support/migrated-database.js'
import { runWeir } from '../../../support/run-weir.js'
import { insertWait } from '../../../support/waits.js'

const { url, pool } = await openMigratedDatabase()
const weir = (...words: string[]) => runWeir(['waiting', ...words], { POSTGRES_URL: url })
const answerOf = async (...words: string[]) => JSON.parse((await weir(...words, '--json')).stdout)

const [shop, tag] = [randomUUID(), randomUUID()]
const soon = (hours: number): Date => new Date(Date.now() + hours * 3_600_000)
/** Three offers wait for one shop, one of them for a tag as well; another organisation's branch waits for the same shop's id. */
beforeEach(async () => {
  await pool.query('truncate integrity.waiting, integrity.waiting_for')
  const ofShop = { field: 'shop_id', type: 'shops', id: shop }
  const times = { since: soon(-3), until: soon(21) }
  for (const missing of [[ofShop], [ofShop], [ofShop, { field: 'tag_id', type: 'tags', id: tag }]])
    await insertWait(pool, { ...times, missing })
  await insertWait(pool, { ...times, org: 'other', type: 'branches', missing: [ofShop] })
  await insertWait(pool, { state: 'accepted' })
})

describe('weir waiting', () => {
  it('lists what is missing, by how many wait for it, in a table that fits', async () => {
    const { stdout, stderr, exitCode } = await weir('list')
    expect(exitCode, stderr).toBe(0)
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    expect(stdout.indexOf(`shops/${shop}`)).toBeLessThan(stdout.indexOf(`tags/${tag}`))
    expect(stdout).toMatch(/3 missing, for which 4 wait$/)
    expect(stderr).toContain(`waiting show --missing shops/${shop}"`)
    const { missing, waiting, records } = await answerOf('list', '--org', 'acme', '--limit', '1')
    expect([missing, waiting]).toEqual([2, 3])
    expect(records).toMatchObject([{ org_id: 'acme', type: 'shops', id: shop, waiting: 3 }])
  })

  it('says so where nothing waits, or a type is mistyped', async () => {
    expect(await weir('list', '--type', 'courses')).toMatchObject({ exitCode: 0, stdout: '', stderr: 'nothing waits' })
    expect(await weir('list', '--type', 'shop')).toMatchObject({
      exitCode: 1,
      stderr: 'weir: there is no type "shop": did you mean shops?',
    })
  })

  it('shows who waits behind a missing record, and what became of one record', async () => {
    const { total, waiting } = await answerOf('show', '--missing', `shops/${shop}`, '--org', 'acme', '--limit', '2')
    expect([total, waiting.length]).toEqual([3, 2])
    const { id } = await insertWait(pool, { state: 'superseded' })
    const { stdout } = await weir('show', '--record', `offers/${id}`)
    expect(stdout).toMatch(new RegExp(`^offers/${id} of acme\n  waited since .*\n  superseded at `))
    expect(await weir('show', '--record', `offers/${randomUUID()}`)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('does not wait and has not waited'),
    })
  })

  it('cancels what is meant and nothing else, and only when that is said', async () => {
    expect(await weir('cancel')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('say which: --missing') })
    expect(await answerOf('cancel', '--missing', `shops/${shop}`, '--dry-run')).toEqual({ would_cancel: 4 })
    // There is no terminal here on which it could ask.
    expect(await weir('cancel', '--org', 'acme')).toMatchObject({
      exitCode: 1,
      stderr: 'weir: 3 records would be cancelled for good: add --yes, or --dry-run to see',
    })
    expect(await answerOf('cancel', '--missing', `shops/${shop}`, '--org', 'acme', '--yes')).toEqual({
      cancelled: 3,
      left: 0,
    })
    expect(await answerOf('cancel', '--missing', `shops/${shop}`, '--org', 'acme', '--yes')).toEqual({
      cancelled: 0,
      left: 0,
    })
    const { rows } = await pool.query(
      'select org_id, state, message is null as is_gone from integrity.waiting order by 1, 2',
    )
    expect(rows.map(({ org_id, state, is_gone }) => [org_id, state, is_gone])).toEqual([
      ['acme', 'accepted', true],
      ...[1, 2, 3].map(() => ['acme', 'cancelled', true]),
      ['other', 'waiting', false],
    ])
  })
})
