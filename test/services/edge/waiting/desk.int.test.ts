import { createWaitingDesk } from '../../../../services/edge/waiting/desk.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'
import { waitingDeskContract } from '../contracts/waiting-desk.contract.js'
import { storeWaits } from './store-waits.js'

const { pool } = await openMigratedDatabase()

waitingDeskContract(() => ({ desk: createWaitingDesk(pool), store: (waits) => storeWaits(pool, waits) }))
