/** How fast a bucket fills, and how much it holds. */
export type Rate = { perSecond: number; burst: number }
/** What was in a bucket at a time in milliseconds. */
export type Bucket = { tokens: number; at: number }
export type Taken = {
  allowed: boolean
  bucket: Bucket
  /** Seconds until the same would be allowed; 0 where it was. */
  retryAfter: number
  /** Seconds until the bucket is full again. */
  fullAfter: number
}

/** Takes `cost` out of a bucket; one that nobody has used yet is full. */
export const take = (before: Bucket | undefined, rate: Rate, now: number, cost: number): Taken => {
  const filled = before ? fill(before, rate, now) : rate.burst
  // More than a bucket holds is let through by a full one, which is then in debt: refused for ever helps nobody.
  const needed = Math.min(cost, rate.burst)
  const allowed = filled >= needed
  const tokens = allowed ? filled - cost : filled
  return {
    allowed,
    bucket: { tokens, at: now },
    retryAfter: allowed ? 0 : (needed - tokens) / rate.perSecond,
    fullAfter: (rate.burst - tokens) / rate.perSecond,
  }
}

// A clock that was set back adds nothing, and takes nothing away.
const fill = ({ tokens, at }: Bucket, { perSecond, burst }: Rate, now: number): number =>
  Math.min(burst, tokens + (Math.max(0, now - at) / 1000) * perSecond)
