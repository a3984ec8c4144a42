// One process serves every organisation, and some work keeps it busy: to read a large body takes up to 50 ms. So such work is done
// piece after piece, the organisations by turns, and other requests are served in between.

export type Turns = ReturnType<typeof createTurns>

type Waiter = { begin: (inTime: boolean) => void }

/** `mayBegin` says whether an organisation's next work may begin now; `patience` is how many milliseconds one waits. */
export const createTurns = (mayBegin: (orgId: string) => boolean, patience: number) => {
  // The organisation whose turn was longest ago comes first.
  const waiting = new Map<string, Set<Waiter>>()
  let isBusy = false

  const leave = (orgId: string, waiter: Waiter): void => {
    const own = waiting.get(orgId)
    own?.delete(waiter)
    if (own?.size === 0) waiting.delete(orgId)
  }

  const next = (): void => {
    if (isBusy) return
    for (const [orgId, own] of waiting) {
      const [first] = own
      if (!first || !mayBegin(orgId)) continue
      waiting.delete(orgId)
      waiting.set(orgId, own)
      leave(orgId, first)
      isBusy = true
      first.begin(true)
      return
    }
  }

  return {
    /** Does the work when its organisation's turn comes; undefined where that did not happen in time. */
    take: async <T>(orgId: string, work: () => Promise<T>): Promise<T | undefined> => {
      const inTime = await new Promise<boolean>((begin) => {
        const waiter: Waiter = {
          begin: (started) => {
            clearTimeout(timer)
            begin(started)
          },
        }
        const timer = setTimeout(() => {
          leave(orgId, waiter)
          begin(false)
        }, patience)
        waiting.set(orgId, (waiting.get(orgId) ?? new Set()).add(waiter))
        next()
      })
      if (!inTime) return undefined
      try {
        return await work()
      } finally {
        // Only in the next round: by then what this work began is counted, and requests that came meanwhile are served.
        setImmediate(() => {
          isBusy = false
          next()
        })
      }
    },
    /** To be called when an organisation that had to wait may go on. */
    wake: next,
  }
}
