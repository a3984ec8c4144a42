/** Lets two requests that carry a record with the same id go one after the other, in the order in which they entered. */
export type IdGate = { enter: (ids: Iterable<string>) => IdTurn }

export type IdTurn = {
  /** Resolves when every earlier request with one of these ids has left. */
  ready: Promise<void>
  /** To be called once the request is answered, or given up. */
  leave: () => void
}

/** Of two requests under way at once it is not known which arrives first: an older value could replace the newer one. */
export const createIdGate = (): IdGate => {
  // For each id that is under way: when the last request that carries it is over.
  const lastOf = new Map<string, Promise<void>>()

  return {
    enter: (given) => {
      // The service reads ids in either case.
      const ids = new Set(Array.from(given, (id) => id.toLowerCase()))
      const earlier = new Set(Array.from(ids, (id) => lastOf.get(id)))
      const ready = Promise.all(earlier).then(() => undefined)
      let leave = () => {}
      const left = new Promise<void>((resolve) => {
        leave = resolve
      })
      // One that gives up before its turn lets the next go only when those before it are over too.
      const over = ready.then(() => left)
      for (const id of ids) lastOf.set(id, over)
      const forget = () => {
        for (const id of ids) if (lastOf.get(id) === over) lastOf.delete(id)
      }
      void over.then(forget)
      return { ready, leave }
    },
  }
}
