/** How many requests a connection may be ahead of another one. */
const ahead = 2

export type InStep = {
  /** Resolves when the connection of this number may send its next request. */
  next: (number: number) => Promise<void>
  /** The connection of this number sends no more requests: the others no longer wait for it. */
  end: (number: number) => void
}

/** For this many connections: none begins its next request while another connection has begun two fewer. */
export const createInStep = (count: number): InStep => {
  const begun = Array.from({ length: count }, () => 0)
  let wake: (() => void)[] = []
  const wakeAll = () => {
    const woken = wake
    wake = []
    for (const each of woken) each()
  }
  return {
    next: async (number) => {
      while ((begun[number] ?? 0) - Math.min(...begun) >= ahead)
        await new Promise<void>((resolve) => wake.push(resolve))
      begun[number] = (begun[number] ?? 0) + 1
      wakeAll()
    },
    end: (number) => {
      begun[number] = Number.POSITIVE_INFINITY
      wakeAll()
    },
  }
}

/** Each connection sends its next request at once, however few the others have sent. */
export const outOfStep: InStep = { next: async () => {}, end: () => {} }
