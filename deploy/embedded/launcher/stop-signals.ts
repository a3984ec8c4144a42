const SAME_GESTURE_MS = 1_000
const PARENT_POLL_MS = 1_000

/**
 * Calls `stop` on the first signal and `hurry` on a later one. Ctrl-C under npm arrives twice, from the terminal and
 * from npm: signals close together are one.
 */
export const onStopSignal = ({ stop, hurry }: { stop: () => void; hurry: () => void }): void => {
  let firstAt: number | undefined
  const handle = () => {
    if (firstAt === undefined) {
      firstAt = Date.now()
      stop()
    } else if (Date.now() - firstAt > SAME_GESTURE_MS) hurry()
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, handle)
  watchNpm(handle)
}

// npm passes on SIGINT and SIGTERM, but killed otherwise it just vanishes. Only npm's end means the user's:
// a shell that put a start of our own in the background may go.
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
