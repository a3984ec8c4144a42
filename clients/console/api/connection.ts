/** Whether the edge can be reached. `times` counts how often it came back: a page that shows something old asks again then. */
type Reach = { isLost: boolean; times: number }

export type EdgeConnection = ReturnType<typeof createConnection>

/** `isAlive` asks the edge for a sign of life; false where none comes. */
export const createConnection = (isAlive: () => Promise<boolean>) => {
  const followers = new Set<() => void>()
  let reach: Reach = { isLost: false, times: 0 }
  let timer: ReturnType<typeof setTimeout> | undefined

  const change = (next: Reach) => {
    reach = next
    for (const tell of [...followers]) tell()
  }
  const look = async () => {
    const alive = await isAlive()
    if (!alive && !reach.isLost) change({ ...reach, isLost: true })
    if (alive && reach.isLost) change({ isLost: false, times: reach.times + 1 })
    clearTimeout(timer)
    timer = setTimeout(look, reach.isLost ? whileLost() : whileFine)
  }
  timer = setTimeout(look, whileFine)

  return {
    now: () => reach,
    /** Calls back at each change; what it returns ends that. */
    follow: (tell: () => void) => {
      followers.add(tell)
      return (): void => void followers.delete(tell)
    },
    /** A request got no answer. From then on the edge is asked for a sign of life until it gives one. */
    lost: () => {
      if (reach.isLost) return
      change({ ...reach, isLost: true })
      clearTimeout(timer)
      timer = setTimeout(look, whileLost())
    },
    stop: () => clearTimeout(timer),
  }
}

const whileFine = 15_000
// Many pages that lost the same edge do not come back at the same moment.
const whileLost = () => 1_000 + Math.random() * 1_500
