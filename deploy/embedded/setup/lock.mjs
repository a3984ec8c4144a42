import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { partsDir } from './tool.mjs'

const lockFile = join(partsDir, 'set-up.lock')
const POLL_MS = 300

/** Runs `work` while no other set-up of this clone does; waits for one that is at it. */
export async function withLock(progress, work) {
  mkdirSync(partsDir, { recursive: true })
  const mine = `${process.pid} ${startOf(process.pid)}`
  for (let hasWaited = false; !take(mine); hasWaited = true) {
    if (!hasWaited) progress.say('another set-up is at work in this folder; waiting for it')
    await delay(POLL_MS)
  }
  // On exit too: a failing step and a signal both end the process.
  const release = () => rmSync(lockFile, { force: true })
  process.once('exit', release)
  try {
    await work()
  } finally {
    release()
    process.off('exit', release)
  }
}

function take(mine) {
  // Linking a finished file is atomic: nobody ever reads a half-written lock.
  const draft = `${lockFile}.${process.pid}`
  writeFileSync(draft, mine)
  try {
    linkSync(draft, lockFile)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return removeIfStale() ? take(mine) : false
}

function removeIfStale() {
  const holder = read(lockFile)
  if (holder === undefined) return true
  if (isAlive(holder)) return false
  const aside = `${lockFile}.stale.${process.pid}`
  try {
    renameSync(lockFile, aside)
  } catch (error) {
    if (error.code === 'ENOENT') return true
    throw error
  }
  // Between the look and the rename another set-up may have taken the lock: then it gets it back.
  const wasStale = read(aside) === holder
  if (!wasStale) linkSync(aside, lockFile)
  rmSync(aside, { force: true })
  return wasStale
}

function isAlive(holder) {
  const [pid, start] = holder.split(' ')
  try {
    process.kill(Number(pid), 0)
  } catch (error) {
    if (error.code === 'ESRCH') return false
  }
  return startOf(pid) === start
}

// The start time tells a process from a later one with the same id; only Linux tells it this simply. A zombie is dead.
function startOf(pid) {
  const stat = read(`/proc/${pid}/stat`)
  if (stat === undefined) return '-'
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' ? 'zombie' : fields[19]
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ESRCH') return undefined
    throw error
  }
}
