import { lastAsked } from '#ledger/erasures/erasures.js'
import { createClickHouse } from '#platform/clickhouse.js'
import type { Log } from '#platform/health/log.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Trust } from '#platform/process/access.js'
import type { createPatience } from '#platform/process/patience.js'
import { periodically } from '#platform/process/periodically.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { startRetaining } from '../retention/work.js'
import { takeUpErasures } from './known-before.js'
import { eraseAsked } from './work.js'

// While nobody is to be forgotten this costs one look at a small index.
const lookEvery = 2_000
const longestPause = 10 * 60_000

/** Forgets whom it is asked to, and removes what is too old, for as long as the service runs. */
export const startErasing = async (deps: {
  pool: Pool
  kafka: Kafka
  registry: Registry
  catalogue: Catalogue
  access: Trust & { url: string; cluster?: string }
  patience: Pick<ReturnType<typeof createPatience>, 'until'>
  log: Log
}): Promise<{ stop: () => Promise<void> }> => {
  const { pool, kafka, registry, catalogue, access, log } = deps
  const over = new AbortController()
  // To rewrite a large table takes as long as it takes.
  const clickhouse = createClickHouse(access.url, { ...access, signal: over.signal, requestTimeout: 3_600_000 })
  const producer = await deps.patience.until('kafka', kafka.createProducer)
  const place = { cluster: access.cluster }
  const turn = { pool, kafka, registry, clickhouse, producer, catalogue, place, signal: over.signal, log }
  let pause = lookEvery
  let notBefore = 0
  let newest = 0
  let isLookedUp = false
  const work = async (): Promise<void> => {
    if (!isLookedUp) await takeUpErasures(turn)
    isLookedUp = true
    const asked = (await lastAsked(pool)) ?? 0
    // What fails reads all topics first, so it is not tried again at once; but what is asked for meanwhile does not wait for it.
    if (performance.now() < notBefore && asked <= newest) return
    newest = asked
    pause = Math.min(2 * pause, longestPause)
    notBefore = performance.now() + pause
    if (await eraseAsked(turn)) [pause, notBefore] = [lookEvery, 0]
  }
  const looking = periodically({ name: 'erasures', everyMs: lookEvery, work, log })
  const retaining = startRetaining(turn)
  return {
    stop: async () => {
      over.abort(new Error('the service stops'))
      await Promise.all([looking.stop(), retaining.stop()])
      await producer.close()
      await clickhouse.close()
    },
  }
}
