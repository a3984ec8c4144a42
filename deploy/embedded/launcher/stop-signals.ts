const SAME_GESTURE_MS = 500
const PARENT_POLL_MS = 1_000

/** Calls `stop` on the first signal, `hurry` on a later one. Under npm Ctrl-C comes twice within half a second: that counts once. */
export const onStopSignal = ({ stop, hurry }: { stop: () => void; hurry: () => void }): void => {
  let firstAt: number | undefined
  let isHurried = false
  const handle = () => {
    if (firstAt === undefined) {
      firstAt = Date.now()
      stop()
    } else if (Date.now() - firstAt > SAME_GESTURE_MS && !isHurried) {
      isHurried = true
      hurry()
    }
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, handle)
  watchNpm(handle)
}

// npm passes on SIGINT and SIGTERM; an npm that is killed passes on nothing, and then we stop by ourselves. This holds for
// npm alone: a shell that started us in the background may end without us.
const watchNpm = (handle: () => void) => {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    handle()
  }, PARENT_POLL_MS)
  timer.unref()
}
