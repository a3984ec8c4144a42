import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { commandLine } from '#ledger/audit.js'
import { createKeyText, hashKey } from '#ledger/key-text.js'
import { insertKey, revokeKey, touchKeys } from '#ledger/keys.js'
import { migrate } from '#ledger/migrate.js'
import { createOrg } from '#ledger/organisations.js'
import { listen } from '#platform/postgres/listen.js'
import { createPool, type Pool } from '#platform/postgres/postgres.js'
import { eventually } from '../../../support/eventually.js'
import { createFreshDatabase } from '../../../support/fresh-database.js'
import { openPostgresLink, type PostgresLink } from '../../../support/postgres-link.js'
import { sharedParts } from '../../../support/shared-parts.js'

const log = pino({ level: 'silent' })
let database: Awaited<ReturnType<typeof createFreshDatabase>>
let link: PostgresLink
let pool: Pool
let listener: ReturnType<typeof listen>
const heard: string[] = []

const newKey = async (): Promise<string> => {
  const { keyId, key } = createKeyText()
  await insertKey(pool, { keyId, hash: hashKey(key), org: 'acme', scopes: null, lifetime: null })
  return keyId
}
const hears = (...expected: string[]) => eventually(() => expect(heard.splice(0)).toEqual(expected), 5_000)

beforeAll(async () => {
  database = await createFreshDatabase(sharedParts.POSTGRES_URL)
  await migrate(database.url)
  pool = createPool(database.url, log, 2)
  await createOrg(pool, 'acme')
  link = await openPostgresLink(database.url)
  listener = listen({
    url: link.url,
    channel: 'weir_keys',
    onMessage: (keyId) => heard.push(keyId),
    onUp: () => heard.push('up'),
    onDown: () => heard.push('down'),
    log,
  })
  await hears('up')
})

afterAll(async () => {
  await listener?.close()
  await link?.close()
  await pool?.end()
  await database?.drop()
})

it('tells of a key that is issued and of one that is revoked, and not of one that is used', async () => {
  const keyId = await newKey()
  await hears(keyId)
  await touchKeys(pool, [keyId])
  await revokeKey(pool, keyId, commandLine)
  await hears(keyId)
})

it('says when it can no longer hear, and when it can again', async () => {
  await link.cut()
  await hears('down')
  await newKey()
  await link.mend()
  await hears('up')
  const keyId = await newKey()
  await hears(keyId)
})

it('notices a link that died without a word within two seconds', async () => {
  link.freeze()
  await eventually(() => expect(heard.splice(0)).toEqual(['down']), 2_000)
  link.thaw()
  await hears('up')
})
