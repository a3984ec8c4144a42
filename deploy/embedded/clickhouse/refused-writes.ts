import { Session } from 'chdb'

// For what the engine writes by itself: it merges parts.
const lookEvery = 1_000

const counter = "SELECT value FROM system.events WHERE event = 'WriteBufferFromFileDescriptorWriteFailed'"

/**
 * Tells when the disk has refused to take what the engine wrote. chdb passes over that: on a full disk it calls a part whole whose
 * files are empty, and puts it in the place of those that it was merged from. All it does is count. What is on the disk is
 * still good then: an engine that starts leaves out broken parts, and finds what they were merged from: access.xml has that kept for
 * a minute.
 */
export const watchRefusedWrites = (path: string, onRefused: () => void) => {
  const session = new Session(path)
  // A full disk refuses a file at each start that nobody needs.
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
