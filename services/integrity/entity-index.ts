import { LRUCache } from 'lru-cache'
import { type Entity, entityName, findEntities, findIndexId, insertEntities } from '#ledger/entities.js'
import type { Connection } from '#platform/postgres/postgres.js'

export type EntityIndex = {
  /** Which of these exist: one query for those that the cache does not know. Comes first in every transaction. */
  findKnown: (connection: Connection, wanted: Iterable<Entity>) => Promise<Set<string>>
  /** Inserts those that are new. They count as known only once `remember` was told that the transaction is through. */
  add: (connection: Connection, entities: Iterable<Entity>) => Promise<void>
  remember: (entities: Iterable<Entity>) => void
}

/**
 * Entities only grow, so an id that was once seen to exist never has to be looked up again, for as long as the index is the
 * same table. What was only found is inserted all the same when it is accepted: a rebuild may be under way that knows what
 * the log holds and what is inserted meanwhile, and what stands in the old index may be a mistake.
 */
export const createEntityIndex = (mostKnown: number): EntityIndex => {
  const cache = new LRUCache<string, 'found' | 'added'>({ max: mostKnown })
  let indexId: number | undefined

  // Asked in the transaction, not told from outside: no decision is taken by an index that was replaced before it began.
  const forgetOldIndex = async (connection: Connection): Promise<number | undefined> => {
    const current = await findIndexId(connection)
    if (current !== indexId) cache.clear()
    indexId = current
    return current
  }

  return {
    findKnown: async (connection, wanted) => {
      const asOf = await forgetOldIndex(connection)
      const known = new Set<string>()
      const asked = new Map<string, Entity>()
      for (const entity of wanted) {
        const name = entityName(entity)
        if (cache.get(name)) known.add(name)
        else asked.set(name, entity)
      }
      if (asked.size === 0) return known
      for (const found of await findEntities(connection, [...asked.values()])) {
        const name = entityName(found)
        known.add(name)
        if (asOf === indexId) cache.set(name, 'found')
      }
      return known
    },
    add: async (connection, entities) => {
      const unseen = new Map<string, Entity>()
      for (const entity of entities) {
        const name = entityName(entity)
        if (cache.peek(name) !== 'added') unseen.set(name, entity)
      }
      if (unseen.size > 0) await insertEntities(connection, [...unseen.values()])
    },
    remember: (entities) => {
      for (const entity of entities) cache.set(entityName(entity), 'added')
    },
  }
}
