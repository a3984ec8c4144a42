// What chdb does not do by itself when its disk is full.

import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Session } from 'chdb'
import { identifier, literal } from './statement-split.js'

// Enough for the files that an engine writes while it starts.
const leastFree = 16 * 1024 * 1024
const lookForRoomEvery = 1_000

/** Waits until the disk has room: chdb calls a file written that a full disk has refused, and before its start nothing looks after it. */
export const untilRoom = async (path: string, onFull: (freeBytes: number) => void): Promise<void> => {
  const free = async (): Promise<number> => {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize
  }
  let found = await free()
  if (found < leastFree) onFull(found)
  for (; found < leastFree; found = await free()) await sleep(lookForRoomEvery)
}

/**
 * Removes parts that an engine left out at an earlier start because they were broken, a week after that. Their rows are elsewhere: an
 * insert that wrote a broken part was never answered, and a merged part has its sources. Parts that were detached by a statement stay.
 */
export const removeBrokenParts = (root: Session): number => {
  const found = root.query(
    `SELECT database, table, name FROM system.detached_parts
    WHERE reason LIKE '%broken%' AND modification_time < now() - INTERVAL 7 DAY`,
    'JSONCompactEachRow',
  )
  const parts = found.trim() === '' ? [] : found.trim().split('\n')
  for (const part of parts) {
    const [database, table, name] = JSON.parse(part) as [string, string, string]
    root.query(
      `ALTER TABLE ${identifier(database)}.${identifier(table)} DROP DETACHED PART ${literal(name)} SETTINGS allow_drop_detached = 1`,
    )
  }
  return parts.length
}

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
  let [begun, ended] = [0, 0]

  const look = async (): Promise<void> => {
    next = undefined
    begun++
    try {
      const result = await session.queryAsync(counter, { format: 'TabSeparatedRaw' })
      if (Number(result.text()) > before) onRefused()
    } finally {
      ended++
    }
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
    /** How many looks have begun, and how many have ended: each is a reading too. */
    looks: () => ({ begun, ended }),
    close: async (): Promise<void> => {
      clearInterval(timer)
      await last
      session.close()
    },
  }
}
