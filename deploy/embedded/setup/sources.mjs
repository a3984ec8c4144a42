import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './tool.mjs'

// What `npm pack` and Python make beside a client's sources. It is none of them: a running system is not built anew for it.
const packed = /^clients\/([^/]+\/(dist(\/|$)|LICENSE$|[^/]+\.tgz$)|.*__pycache__)/

/** Whether a path below the clone is a source, and not made of one. */
export const isSource = (path) => !packed.test(path)

/** Of these files and of all sources below these folders, given as paths from the clone. */
export function hashOf(paths) {
  const hash = createHash('sha256')
  for (const path of paths.flatMap(filesIn))
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0')
  return hash.digest('hex')
}

function filesIn(path) {
  if (!existsSync(join(root, path))) return []
  if (statSync(join(root, path)).isFile()) return [path]
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .filter(isSource)
    .sort()
}
