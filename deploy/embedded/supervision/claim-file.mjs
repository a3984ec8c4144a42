// @ts-check
// Plain Node, not TypeScript: the set-up uses this file too, before anything is compiled.
import { linkSync, rmSync, writeFileSync } from 'node:fs'
import { hasCode, identityOf, isAlive, parseWhole, readIfThere } from './process-identity.mjs'

/** @typedef {{ pid: number, identity: string }} Holder the process that a claim names */

// Claims `file` for this process. While a living process holds the file, or is just taking it over, that process is returned
// instead. The claim of a process that is gone is stale, and is taken over.
/** @type {(file: string) => { holder?: undefined, release: () => void } | { holder: Holder }} */
export const claimFile = (file) => {
  const mine = JSON.stringify({ pid: process.pid, identity: identityOf(process.pid) })
  // Written aside and linked when whole: half a claim is never read, and of two links only one succeeds.
  const draft = `${file}.${process.pid}`
  try {
    writeFileSync(draft, mine)
    while (!link(draft, file)) {
      const found = readIfThere(file)
      if (found === undefined) continue
      const holder = holderOf(found)
      if (holder !== undefined && isAlive(holder)) return { holder }
      // Only one process at a time removes a stale claim: a second one would remove the claim that the first then makes.
      const removal = claimFile(`${file}.removal`)
      if (removal.holder) return removal
      if (readIfThere(file) === found) rmSync(file, { force: true })
      removal.release()
    }
  } finally {
    rmSync(draft, { force: true })
  }
  return {
    release: () => {
      if (readIfThere(file) === mine) rmSync(file, { force: true })
    },
  }
}

// The living process that holds a file. Nothing is claimed.
/** @type {(file: string) => Holder | undefined} */
export const livingHolderOf = (file) => {
  const holder = holderOf(readIfThere(file) ?? '')
  return holder !== undefined && isAlive(holder) ? holder : undefined
}

// Undefined for a file that names no process: one that a power failure left empty, after which its process is gone as well.
/** @type {(text: string) => Holder | undefined} */
const holderOf = (text) => {
  const claim = parseWhole(text)
  return typeof claim?.pid === 'number' && typeof claim.identity === 'string' ? claim : undefined
}

// False when the file `to` is there already.
/** @type {(from: string, to: string) => boolean} */
const link = (from, to) => {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}
