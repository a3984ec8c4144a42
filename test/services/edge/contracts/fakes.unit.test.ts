// Each fake keeps the contract of the port that it stands for; requests.int and submit.int run the same contracts against Postgres
// and Kafka.
import { shop } from '#schemas/records/shop.js'
import { createFakeSubmit, verdictOn } from '../fakes/submit.fake.js'
import { createFakeVerdictStore } from '../fakes/verdict-store.fake.js'
import { type SubmitWorld, submitContract } from './submit.contract.js'
import { verdictStoreContract } from './verdict-store.contract.js'

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

submitContract(() => {
  const submit = createFakeSubmit()
  const world: SubmitWorld = { problemsOf: () => [], isDeciding: true, lost: undefined }
  submit.outcome = (batch) => {
    if (batch.batch === world.lost) return { unknown: 'not published' }
    return world.isDeciding ? { verdict: verdictOn(shop.type, batch, world.problemsOf) } : { unknown: 'no verdict yet' }
  }
  return { submit, type: shop, world }
})
