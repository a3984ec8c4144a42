// Each fake keeps the contract of the port that it stands for; requests.int, reader.int, submit.int and waiting.int run the same
// contracts against Postgres, ClickHouse and Kafka.
import { shop } from '#schemas/records/shop.js'
import { createFakeInteractions } from '../fakes/reader.fake.js'
import { createFakeSubmit, verdictOn } from '../fakes/submit.fake.js'
import { createFakeVerdictStore } from '../fakes/verdict-store.fake.js'
import { createFakeWaiting } from '../fakes/waiting.fake.js'
import { readInteractionsContract } from './read-interactions.contract.js'
import { type SubmitWorld, submitContract } from './submit.contract.js'
import { verdictStoreContract } from './verdict-store.contract.js'
import { ownWaitingContract } from './waiting.contract.js'

verdictStoreContract(() => {
  const store = createFakeVerdictStore()
  const away = createFakeVerdictStore()
  away.isAway = true
  return {
    store,
    away,
    decide: async (verdicts) => void store.verdicts.push(...verdicts),
    place: async (decided) => void store.keyedRequests.push(...decided),
    wait: async (waits) => void store.waits.push(...waits),
    take: async (orgId, id, interaction) => void store.keyed.set(`${orgId}/${id}`, interaction),
  }
})

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

submitContract(() => {
  const submit = createFakeSubmit()
  const world: SubmitWorld = { problemsOf: () => [], isDeciding: true, lost: undefined }
  submit.outcome = (batch) => {
    if (batch.batch === world.lost) return { unknown: 'not published' }
    return world.isDeciding ? { verdict: verdictOn(shop.type, batch, world.problemsOf) } : { unknown: 'no verdict yet' }
  }
  return { submit, type: shop, world }
})
