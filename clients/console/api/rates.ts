import type { LiveRates as LiveBucket, LiveHistory } from '../../typescript/src/endpoints.js'
import type { LiveEvent } from './live.js'

const kinds = ['accepted', 'refused', 'waiting', 'interactions'] as const

type Kind = (typeof kinds)[number]

/** What was decided in each bucket of time: `at` has the start of each, in seconds since 1970. */
export type LiveRates = { bucketSeconds: number; at: number[] } & Record<Kind, number[]>

// 15 minutes in buckets of 5 seconds.
const bucketSeconds = 5
const mostBuckets = 180

export const emptyRates = (now: number): LiveRates => {
  const last = Math.floor(now / 1000 / bucketSeconds) * bucketSeconds
  const at = Array.from({ length: mostBuckets }, (_, index) => last - (mostBuckets - 1 - index) * bucketSeconds)
  return { bucketSeconds, at, ...pick(() => at.map(() => 0)) }
}

/** The rates after an event: `history` is the last 15 minutes, `rates` replaces one bucket, `tick` is the present time. */
export const ratesWith = (before: LiveRates, { name, data }: LiveEvent): LiveRates => {
  if (name === 'history') {
    const history = data as LiveHistory
    const from = Math.floor(Date.parse(history.from) / 1000)
    const at = history.accepted.map((_, index) => from + index * history.bucket_seconds)
    return { bucketSeconds: history.bucket_seconds, at, ...pick((kind) => history[kind]) }
  }
  if (name === 'rates') {
    const bucket = data as LiveBucket
    const rates = upTo(before, Math.floor(Date.parse(bucket.at) / 1000))
    const index = rates.at.indexOf(align(Math.floor(Date.parse(bucket.at) / 1000), rates))
    return index === -1 ? rates : { ...rates, ...pick((kind) => rates[kind].with(index, bucket[kind])) }
  }
  return name === 'tick' ? upTo(before, Math.floor((data as number) / 1000)) : before
}

/** The events from which the present rates can be made again: the history, and the last about each bucket since. */
export const ratesEvents = (kept: readonly LiveEvent[], event: LiveEvent): readonly LiveEvent[] => {
  if (event.name === 'history') return [event]
  const atOf = ({ data }: LiveEvent) => (data as Partial<LiveBucket>).at
  const others = kept.filter((each) => each.name === 'history' || atOf(each) !== atOf(event))
  return event.name === 'rates' ? [...others.slice(0, 1), ...others.slice(1).slice(-mostBuckets), event] : kept
}

/** The same with buckets up to a time, and without those that are too old for it. */
const upTo = (rates: LiveRates, seconds: number): LiveRates => {
  const last = rates.at.at(-1) ?? 0
  const more = Math.floor((seconds - last) / rates.bucketSeconds)
  if (more <= 0) return rates
  if (more > mostBuckets) return emptyRates(seconds * 1000)
  const added = Array.from({ length: more }, (_, index) => last + (index + 1) * rates.bucketSeconds)
  const kept = <Item>(items: readonly Item[], next: readonly Item[]) => [...items, ...next].slice(-mostBuckets)
  const zeros = added.map(() => 0)
  return { ...rates, at: kept(rates.at, added), ...pick((kind) => kept(rates[kind], zeros)) }
}

const align = (seconds: number, { at, bucketSeconds }: LiveRates): number => {
  const first = at[0] ?? 0
  return first + Math.floor((seconds - first) / bucketSeconds) * bucketSeconds
}

const pick = (of: (kind: Kind) => number[]) =>
  Object.fromEntries(kinds.map((kind) => [kind, of(kind)])) as Record<Kind, number[]>
