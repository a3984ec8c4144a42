import { constants } from 'node:fs'
import { chmod, copyFile, mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../supervision/process-identity.mjs'
import { listData, type TreeEntry, type TreeFile } from './data-tree.js'

/** A file as it was when it was copied, and when its copying began. */
type Copied = Pick<TreeFile, 'size' | 'ino' | 'ctimeMs'> & { at: number }

// A disk notes the time of a change to some milliseconds: one that follows a copy at once may bear the time from before it.
const SURE_AFTER_MS = 1_000
const AT_ONCE = 8

/**
 * Copies a data folder in rounds. Each round copies what is new or has changed since it was copied, so that the last one, for which
 * the servers have to stand still, has little to do.
 */
export const createDataCopy = (from: string, to: string) => {
  const copied = new Map<string, Copied>()
  const made = new Set<string>()

  const isCurrent = (file: TreeFile): boolean => {
    const known = copied.get(file.path)
    return (
      known !== undefined &&
      known.size === file.size &&
      known.ino === file.ino &&
      known.ctimeMs === file.ctimeMs &&
      known.at > file.ctimeMs + SURE_AFTER_MS
    )
  }

  const copy = async (file: TreeFile): Promise<number> => {
    const { path, size, ino, ctimeMs, mode } = file
    const at = Date.now()
    try {
      await rm(join(to, path), { force: true })
      await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE)
      // Its owner may be another one here, who must be able to read it for the check.
      await chmod(join(to, path), mode | 0o600)
    } catch (error) {
      // Gone meanwhile, it or its folder; the next round no longer lists it.
      if (hasCode(error, 'ENOENT')) return 0
      throw error
    }
    copied.set(path, { size, ino, ctimeMs, at })
    return size
  }

  const make = async (entry: TreeEntry): Promise<void> => {
    if (entry.kind === 'folder' && !made.has(entry.path)) {
      await mkdir(join(to, entry.path), { recursive: true, mode: entry.mode | 0o700 })
      made.add(entry.path)
    }
    if (entry.kind === 'link') {
      await rm(join(to, entry.path), { force: true })
      await symlink(entry.target, join(to, entry.path))
    }
  }

  return {
    /** One round; `mayGoOn` is asked before each file and throws where the round has to end. How many bytes were copied. */
    round: async (mayGoOn: () => void = () => {}): Promise<{ entries: TreeEntry[]; bytes: number }> => {
      const entries = listData(from)
      const paths = new Set(entries.map(({ path }) => path))
      for (const known of [copied, made]) {
        for (const path of [...known.keys()].filter((each) => !paths.has(each))) {
          known.delete(path)
          await rm(join(to, path), { recursive: true, force: true })
        }
      }
      for (const entry of entries) await make(entry)
      const files = entries.filter((entry) => entry.kind === 'file').filter((file) => !isCurrent(file))
      let bytes = 0
      const work = async () => {
        for (let file = files.pop(); file !== undefined; file = files.pop()) {
          mayGoOn()
          const size = await copy(file)
          bytes += size
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
      return { entries, bytes }
    },
  }
}
