import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../process/package-root.js'

/** Which Weir this is: its version, and the commit that it was made from. */
export type Build = { version: string; commit: string }

/** Of the package in this folder. Its commit is in a file that the image's build wrote; in a clone, git knows it. */
export const readBuild = (folder: string): Build => {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  return { version, commit: writtenCommit(folder) || commitOfClone(folder) || 'unknown' }
}

const writtenCommit = (folder: string): string => {
  const file = join(folder, 'commit')
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
}

const commitOfClone = (folder: string): string => {
  // Without it git would find the repository of a folder further up, which is somebody else's.
  if (!existsSync(join(folder, '.git'))) return ''
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim()
  } catch {
    // No git here, or a clone of another user, which git does not read: the version is known all the same.
    return ''
  }
}

let known: Build | undefined
/** Asked once in the life of a process. */
export const thisBuild = (): Build => {
  known ??= Object.freeze(readBuild(packageRoot))
  return known
}

/** As `weir --version` says it. */
export const buildInWords = ({ version, commit }: Build): string => `weir ${version}, commit ${commit}`
