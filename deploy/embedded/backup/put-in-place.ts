import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

/** Where a restored data folder lies, whole and checked, until each of its parts is in its place. */
export const restoredIn = (dataDir: string): string => join(dataDir, 'restored')

/**
 * Moves what was restored into its place, and what is there aside. Nothing but renames, each of which is of use alone: where a
 * restore was killed in between, the next start goes on with them. Returns where the old data is, if there was some.
 */
export const putInPlace = (dataDir: string): { aside: string | undefined } => {
  const restored = restoredIn(dataDir)
  let aside: string | undefined
  for (const name of readdirSync(restored)) {
    if (existsSync(join(dataDir, name))) {
      aside ??= join(dataDir, `before-restore-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`)
      mkdirSync(aside, { recursive: true })
      renameSync(join(dataDir, name), join(aside, name))
    }
    renameSync(join(restored, name), join(dataDir, name))
  }
  rmdirSync(restored)
  return { aside }
}
