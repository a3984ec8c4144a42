import { Session } from 'chdb'

// For what the engine writes by itself: it merges parts.
const lookEvery = 1_000

const counter = "SELECT value FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'"

/**
 * Calls back when the disk has refused a write, which chdb only counts: it calls a part whole whose files are empty, and
 * replaces those it was merged from. A new engine leaves out broken parts, and access.xml keeps the others for a minute.
 */
export const watchRefusedWrites = (path: string, onRefused: () => void) => {
  const session = new Session(path)
  // At each start a full disk refuses a file that is not needed.
  const before = Number(session.query(counter, 'TabSeparatedRaw'))
  let last: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined

  const look = async (): Promise<void> => {
    next = undefined
    const result = await session.queryAsync(counter, { format: 'TabSeparatedRaw' })
    if (Number(result.text()) > before) onRefused()
  }
  /** Resolves after a look that begins later than this call. Those who ask during a look share the one after it. */
  const checked = (): Promise<void> => {
    if (!next) {
      next = last.then(look)
      last = next.catch(() => {})
    }
    return next
  }
  // A look that fails also fails the statements that wait for one.
  const timer = setInterval(() => void checked().catch(() => {}), lookEvery)

  return {
    checked,
    close: async (): Promise<void> => {
      clearInterval(timer)
      await last
      session.close()
    },
  }
}
