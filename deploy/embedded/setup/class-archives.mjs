import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findJava, pomHash } from './java.mjs'
import { partsDir, root, runTool, SetUpFailure } from './tool.mjs'
import { refuseUnwritable } from './writable.mjs'

const stamp = join(partsDir, 'classes-of')

/** Halves every later start of Kafka and the registry (servers/class-archives.ts). What cannot be made is done without. */
export const classArchives = {
  title: 'quick starts of Kafka and the registry',
  seconds: 12,
  isNeeded: () => mayWrite() && (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== madeOf()),
  run: async (detail) => {
    try {
      await runTool({
        name: 'class-archives',
        command: process.execPath,
        args: [join(root, 'dist/deploy/embedded/servers/class-archives.js')],
        nextStep: '',
      })
    } catch (error) {
      if (!(error instanceof SetUpFailure)) throw error
      detail('not possible with this Java, they start as slowly as before; .parts/logs/class-archives.log says why')
    }
    // Also when it failed: it would fail again.
    writeFileSync(stamp, madeOf())
  },
}

/** Java uses an archive only with the same Java, the same jars, and in the same folder. */
function madeOf() {
  const java = realpathSync(findJava() ?? root)
  return [pomHash(), java, statSync(java).mtimeMs, root].join('\n')
}

/** Somebody who may not write here runs what another person set up. */
function mayWrite() {
  try {
    refuseUnwritable([partsDir])
    return true
  } catch (error) {
    if (error instanceof SetUpFailure) return false
    throw error
  }
}
