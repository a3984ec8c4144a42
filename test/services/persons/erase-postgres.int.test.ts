import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { commandLine, noteAudit } from '#ledger/audit.js'
import { hashOfName, saltOf } from '#ledger/erasures/gates.js'
import { createOrg } from '#ledger/organisations.js'
import { countInPostgres, removeFromPostgres } from '#persons/erase/postgres.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'

const { pool } = await openMigratedDatabase()
const nobody = '00000000-0000-0000-0000-000000000000'

/** Tables with columns of every kind, under names that queries use themselves. */
const strange = `
  create table operator.strange (org_id text, id uuid, hash text, found jsonb, person text);
  create table operator.without_org ("a column" text);
`

it('finds and removes persons in whatever columns there are, of one organisation and of as many as one likes', async () => {
  await pool.query(strange)
  await inTransaction(pool, async (connection) => {
    for (const org of ['acme', 'other']) await createOrg(connection, org)
  })
  // More than one pattern takes.
  const persons = Array.from({ length: 450 }, () => randomUUID())
  const [ann = '', bob = ''] = persons
  const stranger = randomUUID()
  const salt = await saltOf(pool, 'acme')
  const hashOf = (id: string) => hashOfName(salt, id).toString('hex')
  const erasures = new Map(persons.map((id) => [`erasure of ${id}`, [hashOf(id)]]))
  const sought = { orgId: 'acme', salt, persons: erasures, whole: [] }

  const insert = `insert into operator.strange (org_id, id, hash, found, person) values ($1, $2, $3, $4, $5)`
  await pool.query(insert, ['acme', ann, `x ${ann.toUpperCase()} ${bob}`, { of: [ann, stranger] }, null])
  await pool.query(insert, ['acme', null, stranger, {}, `${ann}, ${ann}`])
  await pool.query(insert, ['other', ann, ann, { of: ann }, ann])
  await pool.query(`insert into operator.without_org values ($1), ($2)`, [`about ${bob}`, stranger])
  for (const id of persons) await pool.query(insert, ['acme', null, id, {}, null])
  await pool.query(
    `insert into integrity.entities (org_id, type, id) values ('acme', 'customers', $1), ('other', 'customers', $1)`,
    [ann],
  )

  const counts = await countInPostgres(pool, sought)
  const of = (id: string) =>
    Object.fromEntries(counts.get(`erasure of ${id}`)?.map(({ where, count }) => [where, count]) ?? [])
  expect(of(ann)).toEqual({
    ...{ 'integrity.entities.id': 1, 'operator.strange.hash': 2, 'operator.strange.found': 1 },
    'operator.strange.person': 1,
  })
  expect(of(bob)).toEqual({ 'operator.strange.hash': 2, 'operator.without_org."a column"': 1 })
  expect(of(persons[449] ?? '')).toEqual({ 'operator.strange.hash': 1 })

  await removeFromPostgres(pool, sought)
  expect([...(await countInPostgres(pool, sought)).values()].flat()).toEqual([])
  const { rows } = await pool.query('select * from operator.strange order by org_id, found::text desc, hash desc')
  expect(rows.at(-1)).toEqual({ org_id: 'other', id: ann, hash: ann, found: { of: ann }, person: ann })
  const acmes = rows.filter(({ org_id }) => org_id === 'acme')
  // A column of ids that are no person's stays as it is: it names requests, keys or batches.
  expect(acmes.find(({ id }) => id === ann)).toEqual({
    ...{ org_id: 'acme', id: ann, hash: `x ${nobody} ${nobody}`, found: { of: [nobody, stranger] }, person: null },
  })
  expect(acmes.filter(({ hash }) => hash === nobody)).toHaveLength(450)
  expect(acmes.find(({ hash }) => hash === stranger)?.person).toBe(`${nobody}, ${nobody}`)
  expect(
    (await pool.query('select * from operator.without_org order by 1')).rows.map((row) => Object.values(row)[0]),
  ).toEqual([`about ${nobody}`, stranger].sort())
  const { rows: entities } = await pool.query('select org_id from integrity.entities')
  expect(entities).toEqual([{ org_id: 'other' }])
})

it('removes what an organisation has, and leaves to others what they have, their feeds too', async () => {
  await inTransaction(pool, async (connection) => {
    for (const org of ['leaves', 'remains']) {
      await createOrg(connection, org)
      await noteAudit(connection, commandLine, { org, action: 'limits_set', subject: org })
    }
  })
  await pool.query(
    `insert into delivery.webhooks (org_id, url, events, secret) values ('leaves', 'https://example.com', '{}', 'x')`,
  )
  await pool.query(
    `insert into integrity.cursors (topic, partition, next_offset) values ('weir.submitted.shops', 0, 3)`,
  )
  for (const [offset, org] of ['remains', 'leaves', 'remains'].entries())
    await pool.query(
      `insert into integrity.verdicts (batch_id, org_id, request_id, type, batch, batches, first_index, body_sha256, accepted, refused,
        repeated, gone, decided_at, topic, partition, submitted_offset)
      values (gen_random_uuid(), $1, gen_random_uuid(), 'shops', 1, 1, 0, '', 1, '[]', '{}', '{}', now(), 'weir.submitted.shops', 0, $2)`,
      [org, offset],
    )
  const sought = (orgId: string) => ({ orgId, salt: Buffer.alloc(32), persons: new Map(), whole: ['a deletion'] })
  const placesOf = async (org: string) =>
    (await countInPostgres(pool, sought(org)))
      .get('a deletion')
      ?.map(({ where, count }) => `${where} ${count}`)
      .sort()
  expect(await placesOf('leaves')).toEqual(['auth.audit 1', 'delivery.webhooks 1', 'integrity.verdicts 1'])
  await removeFromPostgres(pool, sought('leaves'))
  expect(await placesOf('leaves')).toEqual([])
  expect(await placesOf('remains')).toEqual(['auth.audit 1', 'integrity.verdicts 2'])
  const { rows } = await pool.query(`select pruned_until from integrity.cursors where topic = 'weir.submitted.shops'`)
  expect(rows).toEqual([{ pruned_until: 0 }])
})
