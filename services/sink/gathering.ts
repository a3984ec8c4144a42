/** How long rows are gathered in Kafka for the next fetch, in milliseconds. */
export type Gathering = {
  ms: () => number
  /** `ms` is never more. */
  mostMs: number
  /** Runs the work on one partition of a fetch. */
  watch: (work: () => Promise<void>) => Promise<void>
}

// An insert takes 30 ms of ClickHouse's CPU whether it has one row or a hundred, and a fetch may bring rows of every table. So rows are
// gathered for twice as long as the inserts of the last fetch took: with uploads of all types they took more than ClickHouse had.
const timesInserts = 2
const longestMs = 750

/** Rows wait for others at least this long, and longer while inserts take long. */
export const createGathering = (leastMs: number, now = () => performance.now()): Gathering => {
  const mostMs = Math.max(leastMs, longestMs)
  let underWay = 0
  let begun = 0
  let took = 0
  return {
    ms: () => Math.min(mostMs, Math.max(leastMs, Math.round(timesInserts * took))),
    mostMs,
    watch: async (work) => {
      if (underWay++ === 0) begun = now()
      try {
        await work()
      } finally {
        if (--underWay === 0) took = now() - begun
      }
    },
  }
}
