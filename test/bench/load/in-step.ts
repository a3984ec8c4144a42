/** How many requests a connection may be ahead of another one. */
const ahead = 2

export type InStep = {
  /** Resolves when this one may send its next request. */
  next: (number: number) => Promise<void>
  /** This one sends no more, and nobody has to wait for it. */
  end: (number: number) => void
}

/** Keeps so many connections in step: none begins a request while another one is too far behind. */
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

/** Nobody waits for anybody. */
export const outOfStep: InStep = { next: async () => {}, end: () => {} }
