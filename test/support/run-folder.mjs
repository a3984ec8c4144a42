// @ts-check
// Plain Node, not TypeScript: `npm test` uses this file outside of vitest.
import { chmodSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * A temporary folder for one run of the tests, which its processes get as TMPDIR. Vitest, when it is interrupted, ends without a
 * word to the tests and their parts, so it is removed from outside, once the last of these processes has ended.
 */
export const makeRunFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-test-'))
  // Where we are root, Postgres runs as another user, who must get to its own folder in here.
  chmodSync(folder, 0o711)
  return {
    folder,
    /** Launchers and parts notice by themselves that vitest is gone, and end within seconds. */
    remove: async (withinMs = 60_000) => {
      const begun = Date.now()
      let isSaid = false
      for (; Date.now() < begun + withinMs && isInUse(folder); await delay(100)) {
        if (isSaid || Date.now() < begun + 1_000) continue
        isSaid = true
        process.stderr.write('the tests have ended; waiting until what they started has ended too …\n')
      }
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/**
 * Whether a process has this folder as its TMPDIR. Only Linux shows that; elsewhere the answer is no.
 * @param {string} folder
 */
const isInUse = (folder) =>
  process.platform === 'linux' &&
  readdirSync('/proc').some((name) => /^\d+$/.test(name) && environmentOf(name).includes(`TMPDIR=${folder}`))

/** @param {string} pid */
const environmentOf = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    // The process ended while we looked, or is another user's.
    return []
  }
}
