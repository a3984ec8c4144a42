import { setTimeout as sleep } from 'node:timers/promises'

export type Pace = {
  /** Milliseconds between one look and the next. */
  every: number
  /** When to give up: after this many milliseconds, or this many looks. Without either, never. */
  within?: number
  tries?: number
  signal?: AbortSignal
}

/** Looks again and again until the answer is yes. False where it gave up before. */
export const until = async (
  look: () => Promise<boolean>,
  { every, within = Number.POSITIVE_INFINITY, tries = Number.POSITIVE_INFINITY, signal }: Pace,
): Promise<boolean> => {
  const deadline = Date.now() + within
  for (let looks = 1; ; looks++) {
    if (await look()) return true
    if (looks >= tries || Date.now() + every >= deadline) return false
    // An abort ends the pause, and is then thrown with the reason that it was given.
    await sleep(every, undefined, { signal }).catch(() => {})
    signal?.throwIfAborted()
  }
}

/** Does work again while it fails in a way that passes. Gives up with the last failure. */
export const persist = async <T>(
  work: () => Promise<T>,
  isPassing: (error: unknown) => boolean,
  pace: Pace,
): Promise<T> => {
  let done: { result: T } | undefined
  let failure: unknown
  await until(async () => {
    try {
      done = { result: await work() }
      return true
    } catch (error) {
      if (!isPassing(error)) throw error
      failure = error
      return false
    }
  }, pace)
  if (!done) throw failure
  return done.result
}

/** Does work up to four times, after any failure: of two operators who provision at once, one can be refused for a moment. */
export const insist = <T>(work: () => Promise<T>): Promise<T> => persist(work, () => true, { every: 400, tries: 4 })
