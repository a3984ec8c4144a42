import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { tryToWrite } from './disk-refusal.mjs'
import { logFileOf, rotateLog, sizeOf, tailOf } from './log-file.js'
import { type Ending, type RunningProcess, type Startable, spawnNoted } from './noted-processes.js'

/** One process that the supervisor keeps running: a part (Kafka, Postgres, …) or one of Weir's services. */
export type ProcessDefinition = Startable & {
  readonly port: number
  /** Run before every start and restart: formatting, clearing what was left. Cut short by the signal, it is begun anew later. */
  readonly prepare?: (signal: AbortSignal) => Promise<void>
  readonly isReady: () => Promise<boolean>
  /** The processes that need this one: it is asked to stop when they have ended. */
  readonly neededBy?: readonly string[]
  /** What it does while it stops, for those who wait for that: "kafka closes its logs". */
  readonly stopsBy?: string
}

export type Supervisor = ReturnType<typeof createSupervisor>

export class CannotStart extends Error {
  override name = 'CannotStart'
}

export const createSupervisor = (options: {
  dataDir: string
  report: (line: string) => void
  onReady?: (definition: ProcessDefinition, tookMs: number) => void
}) => {
  const processes: { definition: ProcessDefinition; supervised: SupervisedProcess }[] = []
  const stopping = new Set<ProcessDefinition>()
  const ends = new Map<string, Promise<void>>()
  let isStopping = false

  const startOne = async (definition: ProcessDefinition, supervised: SupervisedProcess) => {
    const begun = Date.now()
    await supervised.start()
    options.onReady?.(definition, Date.now() - begun)
  }

  const stopNamed = (name: string): Promise<void> => {
    const end = ends.get(name) ?? stopOne(name)
    ends.set(name, end)
    return end
  }
  const stopOne = async (name: string): Promise<void> => {
    const found = processes.find(({ definition }) => definition.name === name)
    if (!found) return
    const { definition, supervised } = found
    // One that was never ready has nothing to finish, and nothing depends on it yet.
    if (supervised.wasReady()) await Promise.all((definition.neededBy ?? []).map(stopNamed))
    stopping.add(definition)
    await supervised.stop()
    stopping.delete(definition)
  }

  return {
    /** Starts these side by side; resolves when all are ready, rejects with the first that cannot start. */
    start: async (definitions: readonly ProcessDefinition[]): Promise<void> => {
      if (isStopping) throw new Error('the supervisor is stopping')
      const begun = definitions.map((definition) => {
        const supervised = superviseProcess(definition, options)
        processes.push({ definition, supervised })
        return startOne(definition, supervised)
      })
      await Promise.all(begun)
    },
    /** Stops everything in good order: each when those that need it have ended, otherwise side by side. */
    stop: async (): Promise<void> => {
      isStopping = true
      await Promise.all(processes.map(({ definition }) => stopNamed(definition.name)))
    },
    /** Puts aside the logs that have grown large, one after another. */
    rotateLogs: async (): Promise<void> => {
      for (const { definition, supervised } of processes) {
        const pid = supervised.pid()
        if (pid !== undefined) await rotateLog(logFileOf(options.dataDir, definition.name), pid)
      }
    },
    /** Those that were asked to stop and have not ended yet. */
    stopping: (): ProcessDefinition[] => [...stopping],
    /** Ends everything at once; a `stop` that is under way then finishes. */
    kill: (): void => {
      isStopping = true
      for (const { supervised } of processes) supervised.kill()
    },
  }
}

export type SupervisedProcess = ReturnType<typeof superviseProcess>

const POLL_MS = 50
const READY_WITHIN_MS = 120_000
const FIRST_ATTEMPTS = 3
const HEALTHY_MS = 30_000
const STOP_WITHIN_MS = 20_000
const STOP_UNREADY_WITHIN_MS = 1_000
const BACKOFF_MS = [100, 500, 1_000, 2_000, 5_000, 10_000]

export const superviseProcess = (
  definition: ProcessDefinition,
  {
    dataDir,
    report,
    backoff = BACKOFF_MS,
  }: {
    dataDir: string
    report: (line: string) => void
    /** Milliseconds before each new start of a process that does not stay up; the last of them from then on. */
    backoff?: readonly number[]
  },
) => {
  const { name } = definition
  const stopping = new AbortController()
  let running: RunningProcess | undefined
  let lives = 0
  let starting: Promise<void> | undefined
  let watch: Promise<void> | undefined

  const run = async (): Promise<{ readiness: Promise<boolean>; ended: Promise<Ending> }> => {
    try {
      await definition.prepare?.(stopping.signal)
    } catch (error) {
      throw new CannotStart(`${name} cannot be prepared: ${error instanceof Error ? error.message : String(error)}`)
    }
    if (stopping.signal.aborted) throw new CannotStart(`${name} was stopped before it was up`)
    const life = spawnNoted(definition, dataDir, { isAgain: lives++ > 0 })
    running = life
    return { readiness: untilReady(definition, life.ended), ended: life.ended }
  }

  const firstStart = async () => {
    const logFrom = sizeOf(logFileOf(dataDir, name)) ?? 0
    const failed = (why: string) => {
      const tail = tailOf(logFileOf(dataDir, name), 12, logFrom).map((line) => `  ${line}`)
      return new CannotStart([`${name} cannot start: ${why}. Its log: ${logFileOf(dataDir, name)}`, ...tail].join('\n'))
    }
    for (let attempt = 1; ; attempt++) {
      const { readiness, ended } = await run()
      if (await readiness) {
        watch = keepRunning(ended)
        return
      }
      if (stopping.signal.aborted) throw new CannotStart(`${name} was stopped before it was up`)
      const ending = await Promise.race([ended, undefined])
      if (ending === undefined) throw failed(`not ready after ${READY_WITHIN_MS / 1000} s`)
      if (attempt === FIRST_ATTEMPTS) throw failed(ending.reason)
      await pause(BACKOFF_MS[attempt] ?? 0, stopping.signal)
    }
  }

  const keepRunning = async (firstLife: Promise<Ending>) => {
    let ended = firstLife
    let failures = 0
    let upSince = Date.now()
    while (true) {
      const { reason } = await ended
      if (stopping.signal.aborted) return
      failures = Date.now() - upSince > HEALTHY_MS ? 0 : failures
      const why = [reason, tryToWrite(join(dataDir, 'run'))].filter(Boolean).join(', ')
      report(`${name} ended (${why}); starting it again`)
      await pause(backoff[Math.min(failures++, backoff.length - 1)] ?? 0, stopping.signal)
      if (stopping.signal.aborted) return
      upSince = Date.now()
      try {
        const life = await run()
        const startedAt = Date.now()
        void life.readiness.then((isReady) => {
          if (isReady) report(`${name} is ready again after ${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
        })
        ended = life.ended
      } catch (error) {
        ended = Promise.resolve({ isClean: false, reason: error instanceof Error ? error.message : String(error) })
      }
    }
  }

  return {
    /** Resolves when the process is ready for the first time, rejects when it cannot get there. Once ready, it is kept running. */
    start: (): Promise<void> => {
      starting = firstStart()
      return starting
    },
    stop: async (): Promise<void> => {
      stopping.abort()
      if (running) {
        const { ended, end, kill } = running
        end()
        const timer = setTimeout(kill, watch ? STOP_WITHIN_MS : STOP_UNREADY_WITHIN_MS)
        await ended
        clearTimeout(timer)
      }
      // A preparation that is under way (making a database, say) is cut short; the process is then not started.
      await Promise.allSettled([starting, watch])
    },
    wasReady: (): boolean => watch !== undefined,
    /** Of the process as it was last started. */
    pid: (): number | undefined => running?.pid,
    /** Ends the process at once, without the chance to end in good order. */
    kill: (): void => {
      stopping.abort()
      running?.kill()
    },
  }
}

/** False when the process ended first, or was not ready in time. */
const untilReady = async (definition: ProcessDefinition, ended: Promise<Ending>): Promise<boolean> => {
  let hasEnded = false
  void ended.then(() => {
    hasEnded = true
  })
  for (const end = Date.now() + READY_WITHIN_MS; Date.now() < end && !hasEnded; await delay(POLL_MS)) {
    if ((await definition.isReady()) && !hasEnded) return true
  }
  return false
}

const pause = async (ms: number, signal: AbortSignal) => {
  // Aborted by a stop: the caller looks at the signal.
  await delay(ms, undefined, { signal }).catch(() => undefined)
}
