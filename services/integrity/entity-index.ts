import * as ledger from '#ledger/entities.js'
import type { Connection } from '#platform/postgres/postgres.js'
import { createEntityMemory } from './entity-memory.js'

/** `all`: each of those that were asked for. */
export type IsKnown = 'all' | ((entity: ledger.Entity) => boolean)

export type EntityIndex = ReturnType<typeof createEntityIndex>

/**
 * The entity index in Postgres, with a cache in front. An id that was seen to exist never has to be looked up again while the
 * index is the same table and nothing was removed from it. An entity that was only found, and not added by this process, is
 * inserted once more when its record is accepted: a rebuild of the index may be under way, and its table gets what the log
 * holds and what is inserted meanwhile, nothing from the old table.
 */
export const createEntityIndex = (mostKnown: number) => {
  const cache = createEntityMemory(mostKnown)
  let indexId: string | undefined
  // By type: whether the last insert met only new ones. Who sends new shops mostly goes on with new shops, and who sends changes
  // of known ones with changes.
  const metOnlyNew = new Map<string, boolean>()

  // Asked in each transaction: no decision relies on a cache of a table that was replaced, or shortened, before.
  const forgetOldIndex = (current: string | undefined): void => {
    if (current !== indexId) cache.clear()
    indexId = current
  }

  return {
    /**
     * Tells which of these exist, and of no others: one query for what the cache does not know. Must come first in every transaction. `asOf`
     * is the id of the index, as this transaction has found it.
     */
    findKnown: async (
      connection: Connection,
      wanted: Iterable<ledger.Entity>,
      asOf: string | undefined,
    ): Promise<IsKnown> => {
      forgetOldIndex(asOf)
      // Names are made of unknown ones only. One for each reference, here and when it is decided, took a fifth of the time that
      // integrity needs for interactions, of which each has two.
      const unknown = new Map<string, ledger.Entity>()
      for (const entity of wanted) if (!cache.get(entity)) unknown.set(ledger.entityName(entity), entity)
      const found = unknown.size > 0 ? await ledger.findEntities(connection, [...unknown.values()]) : []
      for (const entity of found) {
        unknown.delete(ledger.entityName(entity))
        if (asOf === indexId) cache.set(entity, 'found')
      }
      if (unknown.size === 0) return 'all'
      // A fetch of which one reference is unknown has thousands that are known.
      const ids = new Set([...unknown.values()].map(({ id }) => id))
      return (entity) => !ids.has(entity.id) || !unknown.has(ledger.entityName(entity))
    },
    /** Inserts those that are new. */
    add: async (connection: Connection, entities: Iterable<ledger.Entity>): Promise<void> => {
      const unseen: ledger.Entity[] = []
      for (const entity of entities) if (cache.get(entity) !== 'added') unseen.push(entity)
      const type = unseen[0]?.type
      if (type === undefined) return
      const isInserted = metOnlyNew.get(type) === true && (await ledger.insertNewEntities(connection, unseen))
      if (!isInserted) metOnlyNew.set(type, await ledger.insertEntities(connection, unseen))
    },
    /** For the cache, after the commit: a transaction that failed has added nothing. */
    remember: (entities: Iterable<ledger.Entity>): void => {
      for (const entity of entities) cache.set(entity, 'added')
    },
  }
}
