import { statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Session } from 'chdb'
import { literal } from './statement-split.js'

// Enough for the files that an engine writes while it starts.
const leastFree = 16 * 1024 * 1024
const lookEvery = 1_000

/** Waits until the disk has room: chdb calls a file written that a full disk has refused, and before its start nothing looks after it. */
export const untilRoom = async (path: string, onFull: (freeBytes: number) => void): Promise<void> => {
  const free = async (): Promise<number> => {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize
  }
  let found = await free()
  if (found < leastFree) onFull(found)
  for (; found < leastFree; found = await free()) await sleep(lookEvery)
}

/**
 * Removes parts that an engine left out at an earlier start because they were broken, a week after that. Their rows are elsewhere: an
 * insert that wrote a broken part was never answered, and a merged part has its sources. What somebody detached by hand stays.
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
      `ALTER TABLE ${quoted(database)}.${quoted(table)} DROP DETACHED PART ${literal(name)} SETTINGS allow_drop_detached = 1`,
    )
  }
  return parts.length
}

const quoted = (name: string): string => `\`${name.replace(/[\\`]/g, '\\$&')}\``
