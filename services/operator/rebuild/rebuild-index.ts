import { beginNewIndex, type Comparison, compareIndexes, dropNewIndex, swapIndex } from '#ledger/rebuilt-entities.js'
import type { Log } from '#platform/health/log.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { submittedTopic } from '#schemas/derive/names.js'
import type { Config } from '../config.js'
import { alone } from '../desk/alone.js'
import { OperatorError } from '../desk/operator-error.js'
import { withLog } from '../desk/with-log.js'
import { fillIndex } from './fill-index.js'
import { inShortTransaction } from './short-transaction.js'
import { waitUntilPublished } from './wait-until-published.js'

export type IndexRebuilt = { types: Comparison[]; undecodable: number }

/**
 * A new entity index from the accepted topics, swapped in at once while integrity decides. Nothing falls between the old and
 * the new one: what was decided before the new table was there lies below the cursors taken at that moment, and is read from
 * the topics once it is published; what is decided from then on is copied into it by a trigger, in the same transaction.
 */
export const rebuildIndex = (options: {
  config: Config
  catalogue: Catalogue
  pool: Pool
  log: Log
  isDryRun: boolean
  signal: AbortSignal
}): Promise<IndexRebuilt> =>
  alone(options.pool, 'rebuild index', () =>
    withLog(options.config, options.log, async ({ kafka, registry }) => {
      const { catalogue, pool, signal } = options
      const submitted = new Set([...catalogue.referenced].map(submittedTopic))
      const { id, cursors } = await inShortTransaction(pool, beginNewIndex)
      try {
        const ofEntities = cursors.filter(({ topic }) => submitted.has(topic))
        await waitUntilPublished(kafka, ofEntities, signal)
        const { undecodable } = await fillIndex({ catalogue, kafka, registry, pool, signal })
        const types = await compareIndexes(pool)
        signal.throwIfAborted()
        if (options.isDryRun) await inShortTransaction(pool, dropNewIndex)
        else if (!(await inShortTransaction(pool, (connection) => swapIndex(connection, id))))
          throw new OperatorError('another rebuild has begun meanwhile: nothing was changed')
        return { types, undecodable }
      } catch (error) {
        // Should this fail too, the next rebuild does it; what failed first is what the operator has to know.
        await inShortTransaction(pool, dropNewIndex).catch((left) => options.log.error({ err: left }, 'not cleaned up'))
        throw error
      }
    }),
  )
