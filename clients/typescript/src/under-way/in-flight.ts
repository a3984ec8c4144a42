import { WeirError } from '../weir-error.js'

/** How many requests may be under way at once: fewer while the service is busy. */
export type InFlight = {
  /** Waits until there is room for one more request. Rejects with the signal's reason where that comes first. */
  enter: (signal?: AbortSignal) => Promise<InFlightPlace>
  /** How many may be under way at the moment. */
  limit: () => number
}

export type InFlightPlace = {
  /** The service answered 429 or 503: half as many from now on. */
  busy: () => void
  /** The request is over. `isAnswered` where it got an answer that settles it. */
  leave: (isAnswered: boolean) => void
}

/**
 * Begins with `most` at once, halves when the service is busy, and takes one more after each round of answered requests.
 * Requests that began before the last halving tell nothing about the new number, so a burst of 429 halves once.
 */
export const createInFlight = ({ most }: { most: number }): InFlight => {
  if (!(most >= 1)) throw new WeirError('usage', `${most} requests at once cannot be`, 'give 1 or more')
  let limit = Math.floor(most)
  let underWay = 0
  let answeredInRound = 0
  let round = 0
  const waiting = new Set<() => void>()

  const admit = (): void => {
    for (const enter of waiting) {
      if (underWay >= limit) return
      waiting.delete(enter)
      underWay += 1
      enter()
    }
  }

  const createPlace = (): InFlightPlace => {
    let begunIn = round
    let isOver = false
    return {
      busy: () => {
        if (begunIn === round) {
          limit = Math.max(1, Math.floor(limit / 2))
          answeredInRound = 0
          round += 1
        }
        // Its next attempt is made with the new number, and may say that this is too many as well.
        begunIn = round
      },
      leave: (isAnswered) => {
        if (isOver) return
        isOver = true
        underWay -= 1
        if (isAnswered && limit + 1 <= most) {
          answeredInRound += 1
          if (answeredInRound >= limit) {
            limit += 1
            answeredInRound = 0
          }
        }
        admit()
      },
    }
  }

  return {
    limit: () => limit,
    enter: (signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const stop = () => {
          waiting.delete(enter)
          reject(signal?.reason)
        }
        const enter = () => {
          signal?.removeEventListener('abort', stop)
          resolve(createPlace())
        }
        signal?.addEventListener('abort', stop, { once: true })
        waiting.add(enter)
        admit()
      }),
  }
}
