import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { countingRemoval, findEntities, findIndexId } from '#ledger/entities.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { createEntityIndex } from '../../../services/integrity/entity-index.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'

const { pool } = await openMigratedDatabase()

it('holds what was added and not removed since, whether it is new, known, or twice in one transaction, and nothing of one that failed', async () => {
  const step = fc.record({
    ids: fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 6 }),
    fails: fc.boolean(),
    // Another process, whose cache knows nothing of what this one has added.
    byOther: fc.boolean(),
    // Somebody removes them, as when a person is forgotten.
    removes: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const entities = Array.from({ length: 13 }, () => ({ orgId: 'acme', type: 'shops', id: randomUUID() }))
      const [own, other] = [createEntityIndex(16), createEntityIndex(16)]
      const added = new Set<string>()
      for (const { ids, fails, byOther, removes } of steps) {
        const index = byOther ? other : own
        const some = ids.flatMap((n) => entities[n] ?? [])
        if (removes) {
          const gone = some.map(({ id }) => id)
          await pool.query(`${countingRemoval} delete from integrity.entities where id = any ($1)`, [gone])
          for (const id of gone) added.delete(id)
          continue
        }
        const adding = inTransaction(pool, async (connection) => {
          const isKnown = await index.findKnown(connection, some, await findIndexId(connection))
          for (const entity of some) expect(isKnown === 'all' || isKnown(entity)).toBe(added.has(entity.id))
          await index.add(connection, some)
          if (fails) throw new Error('on purpose')
        })
        if (fails) {
          await expect(adding).rejects.toThrow('on purpose')
          continue
        }
        await adding
        index.remember(some)
        for (const { id } of some) added.add(id)
      }
      const found = await findEntities(pool, entities)
      expect(new Set(found.map(({ id }) => id))).toEqual(added)
    }),
    { numRuns: 40 },
  )
})
