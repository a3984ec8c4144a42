// Each fake keeps the contract of the port that it stands for; reader.int and waiting.int run the same contracts against ClickHouse
// and Postgres.
import { createFakeInteractions } from '../fakes/reader.fake.js'
import { createFakeWaiting } from '../fakes/waiting.fake.js'
import { readInteractionsContract } from './read-interactions.contract.js'
import { ownWaitingContract } from './waiting.contract.js'

ownWaitingContract(() => {
  const waiting = createFakeWaiting()
  return { waiting, store: async (waits) => void waiting.waits.push(...waits.map((wait) => ({ ...wait }))) }
})

readInteractionsContract(() => {
  const read = createFakeInteractions()
  const away = createFakeInteractions()
  away.isAway = true
  return {
    read,
    away,
    insert: async (org_id, rows) => void read.rows.push(...rows.map((row) => ({ ...row, org_id }))),
  }
})
