import type { Rate } from './token-bucket.js'
import type { LimitConfig } from './variables.js'

/** How much a key may send in a second; 0: as much as it likes. */
export type Rates = { requests: number; records: number }
/** What an organisation has of its own; null: what everybody has. */
export type OrgRates = { requests: number | null; records: number | null }
export type Limit = keyof Rates

const burstSeconds = 5
// The largest upload of any type: however low the rate, a client that waits gets one through.
const fullUpload = 5000

export const ratesOf = (config: Pick<LimitConfig, 'RATE_REQUESTS_PER_SECOND' | 'RATE_RECORDS_PER_SECOND'>): Rates => ({
  requests: config.RATE_REQUESTS_PER_SECOND,
  records: config.RATE_RECORDS_PER_SECOND,
})

/** The rate that holds for a key; undefined where there is none. */
export const rateOf = (limit: Limit, defaults: Rates, own: OrgRates | undefined): Rate | undefined => {
  const perSecond = own?.[limit] ?? defaults[limit]
  const least = limit === 'records' ? fullUpload : 1
  return perSecond > 0 ? { perSecond, burst: Math.max(perSecond * burstSeconds, least) } : undefined
}
