/** How fast a queue of batches is decided, and so how long one that joins it now would wait. */
export type QueuePace = {
  /** A batch joins the queue. */
  join: (records: number) => void
  /** A batch leaves it: decided, or because it never will be. */
  leave: (records: number, isDecided: boolean) => void
  /** In milliseconds; 0 where nothing is in front, or nothing was decided yet to judge by. */
  expectedWait: () => number
}

// What was decided this long ago counts half.
const halfLife = 10_000

export const createQueuePace = (now: () => number): QueuePace => {
  /** Records in the queue. */
  let queued = 0
  /** Records that were decided, and the milliseconds in which there was something to decide; the older, the less they count. */
  let decided = 0
  let busy = 0
  let since = now()

  const pass = (): void => {
    const time = now()
    const passed = time - since
    since = time
    if (queued === 0 || passed <= 0) return
    const kept = 0.5 ** (passed / halfLife)
    decided *= kept
    busy = busy * kept + passed
  }

  return {
    join: (records) => {
      pass()
      queued += records
    },
    leave: (records, isDecided) => {
      pass()
      queued -= records
      if (isDecided) decided += records
    },
    expectedWait: () => {
      pass()
      return decided === 0 ? 0 : (queued * busy) / decided
    },
  }
}
