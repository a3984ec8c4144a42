export const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** p50, p95, p99 and the longest, in whole milliseconds. */
export const latencies = (values: readonly number[]) => ({
  p50: Math.round(percentile(values, 0.5)),
  p95: Math.round(percentile(values, 0.95)),
  p99: Math.round(percentile(values, 0.99)),
  longest: Math.round(percentile(values, 1)),
})
