import { createOwnWaiting } from '#query/waiting/waiting.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'
import { ownWaitingContract } from '../contracts/waiting.contract.js'
import { storeWaits } from './store-waits.js'

const { pool } = await openMigratedDatabase()

ownWaitingContract(() => ({ waiting: createOwnWaiting(pool), store: (waits) => storeWaits(pool, waits) }))
