export type Latencies = { p50: number; p95: number; p99: number; longest: number }

/** The value below which this share of all values lies; NaN where there are none. */
export const percentile = (sorted: ArrayLike<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

/** p50, p95, p99 and the longest, to a hundredth of a millisecond; zeros where nothing was measured. */
export const latenciesOf = (values: readonly number[]): Latencies => {
  const sorted = Float64Array.from(values).sort()
  const at = (share: number) => (sorted.length === 0 ? 0 : Math.round(percentile(sorted, share) * 100) / 100)
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), longest: at(1) }
}
