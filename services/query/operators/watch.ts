import { countFailed, failLateErasures } from '#ledger/erasures/late.js'
import { countEndingKeys } from '#ledger/keys.js'
import { sizeOfDatabase } from '#ledger/organisations.js'
import { findLastVerification } from '#ledger/verify/verifications.js'
import { storageOf } from '#platform/clickhouse.js'
import type { Log } from '#platform/health/log.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { within } from '#platform/process/within.js'
import type { Reader } from '#rejections/find-rejections.js'
import { database } from '#schemas/derive/names.js'

type OneGauge = { set: (value: number) => void }
type GaugeOfParts = { set: (labels: { part: string }, value: number) => void }

/** Where what is found is shown. */
export type SystemFigures = Record<'keysEnding' | 'verifiedAt' | 'differences' | 'erasuresFailed', OneGauge> &
  Record<'used' | 'free' | 'size', GaugeOfParts>

const lookEvery = 60_000
const answerWithin = 5_000
const week = 7 * 86_400_000

/** Asks the parts once a minute for what nobody counts as it happens. A figure whose part does not answer stays as it was. */
export const watchSystem = (deps: { pool: Pool; clickhouse: Reader; figures: SystemFigures; log: Log }) => {
  const { pool, figures } = deps
  const looks = {
    keys: async () => figures.keysEnding.set(await countEndingKeys(pool, week)),
    postgres: async () => figures.used.set({ part: 'postgres' }, await sizeOfDatabase(pool)),
    clickhouse: async () => {
      const found = await storageOf(deps.clickhouse, database)
      for (const what of found ? (['used', 'free', 'size'] as const) : [])
        figures[what].set({ part: 'clickhouse' }, found?.[what] ?? 0)
    },
    verification: async () => {
      const last = await findLastVerification(pool)
      figures.verifiedAt.set((last?.ran_at.getTime() ?? 0) / 1000)
      figures.differences.set(last?.differences ?? 0)
    },
    // Done here and not by the service that erases: that one may be what is away, and whoever follows an erasure asks an edge.
    erasures: async () => {
      for (const { erasureId, orgId, step, problem } of await failLateErasures(pool))
        deps.log.warn({ erasure_id: erasureId, org: orgId, step, reason: problem }, 'erasure has failed')
      figures.erasuresFailed.set(await countFailed(pool))
    },
  }
  const look = async (): Promise<void> => {
    await Promise.all(
      Object.entries(looks).map(([what, ask]) =>
        within(answerWithin, ask()).catch((err: unknown) => deps.log.debug({ err, what }, 'a figure stays as it was')),
      ),
    )
  }
  void look()
  const timer = setInterval(look, lookEvery)
  return { stop: () => clearInterval(timer) }
}
