import { pino } from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { primaryOf } from '#platform/postgres/hosts.js'
import { listen } from '#platform/postgres/listen.js'
import { createPool, type Pool } from '#platform/postgres/postgres.js'
import { eventually } from '../../../support/eventually.js'
import { createFreshDatabase } from '../../../support/fresh-database.js'
import { openLinkTo } from '../../../support/link.js'
import { sharedParts } from '../../../support/shared-parts.js'

// Two ways to one Postgres stand for two hosts; test/cluster has real standbys.
const log = pino({ level: 'silent' })
type Way = Awaited<ReturnType<typeof openLinkTo>>
let database: Awaited<ReturnType<typeof createFreshDatabase>>
let ways: Way[]
let url: string
let pool: Pool

beforeEach(async () => {
  database = await createFreshDatabase(sharedParts.POSTGRES_URL)
  ways = [await openLinkTo(database.url), await openLinkTo(database.url)]
  const [first = '', second = ''] = ways.map((way) => way.url)
  url = first.replace(new URL(first).host, `${new URL(first).host},${new URL(second).host}`)
  pool = createPool(url, log, 2)
})
afterEach(async () => {
  await pool.end()
  for (const way of ways) await way.close()
  await database.drop()
})

const setReadOnly = async (state: 'on' | 'off') => {
  const server = createPool(sharedParts.POSTGRES_URL, log, 1)
  await server.query(
    `alter database ${new URL(database.url).pathname.slice(1)} set default_transaction_read_only = ${state}`,
  )
  await server.end()
}
const write = () => pool.query('create table if not exists written (at integer)')

it('goes on at another host when one is cut off, with its listeners too', async () => {
  const heard: string[] = []
  let ups = 0
  const listener = listen({
    ...{ url, channel: 'news', log, onMessage: (text: string) => heard.push(text), onDown: () => {} },
    onUp: () => ups++,
  })
  try {
    await write()
    await eventually(() => expect(ups).toBe(1))
    for (const way of ways) {
      const before = ups
      await way.cut()
      await eventually(write)
      // A listener on the other host was not disturbed.
      await eventually(async () => {
        await pool.query(`select pg_notify('news', $1)`, [way.url])
        expect(heard).toContain(way.url)
      })
      await way.mend()
      expect(ups).toBeLessThanOrEqual(before + 1)
    }
    expect(ups).toBeGreaterThan(1)
  } finally {
    await listener.close()
  }
})

it('says what each host answers where none takes writes, and finds one when it does again', async () => {
  await setReadOnly('on')
  await ways[0]?.cut()
  await expect(write()).rejects.toThrow(/no host of Postgres takes writes \(127.*: read-only/s)
  await expect(primaryOf(url)).rejects.toThrow('read-only')
  await setReadOnly('off')
  await write()
  expect(await primaryOf(url)).toBe(ways[1]?.url)
})

it('hangs up where its server takes no writes any more, so that the next connection finds the one that does', async () => {
  const one = createPool(database.url, log, 1)
  try {
    await one.query('set session characteristics as transaction read only')
    await expect(one.query('create table refused (at integer)')).rejects.toMatchObject({ code: '25006' })
    await eventually(() => one.query('create table taken (at integer)'))
  } finally {
    await one.end()
  }
})
