// Makes a bare clone ready to run. Plain Node: nothing is installed yet when this runs.
// Each step knows whether it is needed, so a second run only checks, which takes milliseconds.

import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { claimFile } from '../supervision/claim-file.mjs'
import { build } from './build.mjs'
import { chromium } from './chromium.mjs'
import { classArchives } from './class-archives.mjs'
import { findToolProblems, jars, java, maven } from './java.mjs'
import { packages } from './packages.mjs'
import { createProgress } from './progress.mjs'
import { endOnSignal, partsDir, root, SetUpFailure } from './tool.mjs'
import { diskFailure, refuseUnwritable } from './writable.mjs'

const POLL_MS = 300

/**
 * @param {{ output?: NodeJS.WriteStream, findProblems?: () => Promise<string[]>, withParts?: boolean, withBrowser?: boolean }} options where the progress
 *   goes; what else would stop the program that this is done for: a line each, asked before anything is downloaded; and whether
 *   that program runs the parts, for which Java is needed, or a browser
 */
export async function setUp({
  output = process.stdout,
  findProblems = async () => [],
  withParts = true,
  withBrowser = false,
} = {}) {
  const isJavaNeeded = withParts && needsJava(process.env)
  const leaveSignals = endOnSignal(output)
  try {
    refuseOtherNode()
    const steps = [
      packages,
      ...(isJavaNeeded ? [java, maven, jars] : []),
      ...(withBrowser ? [chromium] : []),
      build,
      ...(isJavaNeeded ? [classArchives] : []),
    ]
    const needed = steps.filter((step) => step.isNeeded())
    if (needed.length === 0) return
    refuseUnwritable([partsDir, ...needed.flatMap(({ writes = [] }) => writes)])
    const problems = [...(isJavaNeeded ? findToolProblems() : []), ...(await findProblems())]
    if (problems.length > 0) throw new SetUpFailure(problems.join('\n'))
    const progress = createProgress(output)
    progress.say(`to be set up: ${whatIsLeft(needed)} on two cores and a quick line`)
    await withLock(progress, async () => {
      for (const [n, step] of steps.entries()) {
        // Asked again under the lock: another set-up may have done the step while this one waited.
        if (!step.isNeeded()) continue
        const left = steps.slice(n + 1).filter((each) => each.isNeeded())
        await progress.step(step.title, step.run, left.length > 0 ? `; left: ${whatIsLeft(left)}` : '')
      }
    })
    progress.say('set up')
  } catch (error) {
    const failure = error instanceof SetUpFailure ? error : diskFailure(error)
    if (failure === undefined) throw error
    process.stderr.write(`\n${failure.message}\n`)
    process.exit(1)
  } finally {
    leaveSignals()
  }
}

/** @param {{ title: string, seconds: number }[]} steps each with what it usually takes */
const whatIsLeft = (steps) =>
  `${steps.map(({ title }) => title).join(', ')}, about ${steps.reduce((sum, step) => sum + step.seconds, 0)} s`

function refuseOtherNode() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  if (isInRange(process.versions.node, engines.node)) return
  throw new SetUpFailure(
    `Weir runs on Node 20 (from 20.19 on), 22 (from 22.12 on), 24, and 26 or later; this is ${process.versions.node}. ` +
      'Install Node 24 (nvm install 24, or https://nodejs.org) and run the same command again.',
  )
}

/** Whether a version is in a range of the kind that package.json has: ">=20.19 <21 || >=24". */
export function isInRange(version, range) {
  const numbersOf = (text) => text.split('.').map(Number)
  const isBelow = (bound) => {
    const wanted = numbersOf(bound)
    const at = wanted.findIndex((number, index) => number !== numbersOf(version)[index])
    return at !== -1 && numbersOf(version)[at] < wanted[at]
  }
  const holds = (rule) => (rule.startsWith('>=') ? !isBelow(rule.slice(2)) : isBelow(rule.slice(1)))
  return range.split('||').some((part) => part.trim().split(' ').every(holds))
}

// Kafka and the registry are the parts written in Java; where both run elsewhere, Java is not needed.
function needsJava(env) {
  const isGiven = Boolean(env.KAFKA_BROKERS && env.SCHEMA_REGISTRY_URL)
  return !isGiven && env.WEIR_TEST_STACK !== 'docker'
}

/** Runs `work` while no other set-up works in this clone; waits for another that does. */
async function withLock(progress, work) {
  mkdirSync(partsDir, { recursive: true })
  const lockFile = join(partsDir, 'set-up.lock')
  let claim = claimFile(lockFile)
  if (claim.holder) progress.say('another set-up is at work in this folder; waiting for it')
  for (; claim.holder; claim = claimFile(lockFile)) await delay(POLL_MS)
  // On exit too: a failing step and a signal both end the process.
  process.once('exit', claim.release)
  try {
    await work()
  } finally {
    claim.release()
    process.off('exit', claim.release)
  }
}
