// `npm start`, after the set-up: starts the parts, provisions them, starts Weir's services and prints the banner; stops all
// of them on a signal, each when those that need it have ended.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { putInPlace, restoredIn } from '../backup/put-in-place.js'
import { livingHolderOf } from '../supervision/claim-file.mjs'
import { refusalOf } from '../supervision/disk-refusal.mjs'
import { endOrphans, type RunningProcess } from '../supervision/noted-processes.js'
import { CannotStart, createSupervisor, type Supervisor } from '../supervision/supervisor.js'
import { banner } from './banner.js'
import { findBusyPorts } from './busy-ports.mjs'
import { ConfigProblems, checkEdgeNetwork, type LauncherConfig, readConfig } from './config.js'
import { backupClaimOf, unusableLine } from './data-folder.mjs'
import { embeddedParts } from './embedded-parts.js'
import { claimDataFolder, DataFolderInUse, noteAddresses } from './running-system.js'
import { demoKeyFile, findProblems, ownsAllParts, provision, weirServices } from './services.js'
import { onStopSignal } from './stop-signals.js'

/** Signals end the process at once until `leaveSignals` is called: from then on there is something to stop in good order. */
export const launch = async ({ leaveSignals }: { leaveSignals: () => void }): Promise<void> => {
  surviveLostOutput()
  try {
    const config = readConfig(process.env)
    checkEdgeNetwork(process.env)
    await explainRefusal(config.dataDir, async () => {
      process.once('exit', claimDataFolder(config.dataDir))
      await run(config, leaveSignals)
    })
  } catch (error) {
    if (!isExplained(error)) throw error
    complain(error.message)
    process.exit(1)
  }
}

const explainRefusal = async (dataDir: string, work: () => Promise<void>): Promise<void> => {
  try {
    await work()
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal === undefined) throw error
    throw new CannotStart(unusableLine(dataDir, refusal))
  }
}

const run = async (config: LauncherConfig, leaveSignals: () => void): Promise<void> => {
  if (existsSync(restoredIn(config.dataDir))) {
    putInPlace(config.dataDir)
    say('ended a restore that was interrupted')
  }
  const orphans = await endOrphans(config.dataDir)
  if (orphans.length > 0) say(`ended what an earlier start had left running: ${orphans.join(', ')}`)
  const busy = await findBusyPorts(config)
  if (busy.length > 0) throw new CannotStart(busy.join('\n'))

  const supervisor = createSupervisor({
    dataDir: config.dataDir,
    report: say,
    onReady: ({ name, port }, tookMs) => say(`${name.padEnd(10)} ready on port ${port} after ${seconds(tookMs)}`),
  })
  let provisioning: RunningProcess | undefined
  let isStopping = false
  const stop = async () => {
    isStopping = true
    provisioning?.kill()
    await supervisor.stop()
  }
  onStopSignal({
    stop: () => {
      say('stopping …')
      sayWaiting(supervisor)
      void stop().then(() => {
        say('stopped')
        process.exit(0)
      })
    },
    hurry: () => {
      say('ending all of it at once; what was acknowledged is kept')
      supervisor.kill()
    },
  })
  leaveSignals()

  try {
    process.once('exit', noteAddresses(config))
    const begun = Date.now()
    const parts = await embeddedParts(config)
    const beginProvisioning = () => {
      const provisioned = provision(config)
      provisioning = provisioned
      // A part that cannot start is named first.
      provisioned.done.catch(() => {})
      return provisioned
    }
    // It waits for our own parts by itself, and is loaded while they start. For those of others it does not wait for long, and that
    // time begins when our own are there.
    const early = ownsAllParts(config) ? beginProvisioning() : undefined
    await supervisor.start(parts)
    const left = await (early ?? beginProvisioning()).done
    for (const line of ['topics, schemas and tables are there', ...left]) say(`${'provision'.padEnd(10)} ${line}`)
    await supervisor.start(weirServices(config))
    const demoKey = (await readFile(demoKeyFile(config), 'utf8')).trim()
    process.stdout.write(`${banner(config, demoKey)}\n`)
    say(`up after ${seconds(Date.now() - begun)}`)
    const problems = await findProblems(config)
    for (const line of problems) say(line)
    if (problems.length > 0)
      say('what to do about it is in docs/runbook.md; "npm run -s weir -- status" shows whether it is over')
    keepLogsSmall(supervisor, config.dataDir)
  } catch (error) {
    // A signal came during the start, which is why it fails; the signal's handler ends the process.
    if (isStopping) return
    await stop()
    throw error
  }
}

const SAY_WAITING_MS = 1_000

/** From the first second on, says which processes are waited for, and again when that changes. */
const sayWaiting = (supervisor: Supervisor): void => {
  let last = ''
  const look = () => {
    const waitedFor = supervisor.stopping().map(({ name, stopsBy }) => (stopsBy ? `${name} (${stopsBy})` : name))
    const line = `waiting for ${waitedFor.join(', ')}; Ctrl-C again ends all of it at once`
    if (waitedFor.length > 0 && line !== last) say(line)
    last = line
  }
  setInterval(look, SAY_WAITING_MS).unref()
}

const LOOK_AT_LOGS_MS = 10_000

/** Not while a backup lets the same processes stand still. */
const keepLogsSmall = (supervisor: Supervisor, dataDir: string): void => {
  const look = async () => {
    const isBackedUp = livingHolderOf(backupClaimOf(dataDir)) !== undefined
    if (!isBackedUp) await supervisor.rotateLogs().catch((error) => say(`the logs could not be put aside: ${error}`))
    setTimeout(look, LOOK_AT_LOGS_MS).unref()
  }
  setTimeout(look, LOOK_AT_LOGS_MS).unref()
}

const isExplained = (error: unknown): error is Error =>
  error instanceof ConfigProblems || error instanceof DataFolderInUse || error instanceof CannotStart

const say = (text: string) => process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`)
const complain = (text: string) => process.stderr.write(`${text}\n`)
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

// With `npm start | head` the reader goes away, with `npm start > file` the disk may be full: neither is a reason to stop.
const surviveLostOutput = () => {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && refusalOf(error) === undefined) throw error
    })
  }
}
