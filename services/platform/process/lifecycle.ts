import type { Log } from '../health/log.js'

type Release = () => Promise<unknown> | unknown
/** Registers something that was opened: its name for the log, and how it is released. */
export type OnStop = (name: string, release: Release) => void
/** Ends the process after a failure that it cannot recover from; the supervisor starts it again. */
export type Crash = (error: Error) => void

const stopWithin = 9_000

/** Opens in order, releases in reverse: on a signal, after a crash, and when the start itself fails. */
export const runService = async (log: Log, start: (onStop: OnStop, crash: Crash) => Promise<void>): Promise<void> => {
  const opened: { name: string; release: Release }[] = []
  let stopping = false

  const stop = async (exitCode: number): Promise<void> => {
    if (stopping) return
    stopping = true
    setTimeout(() => {
      log.error({ after: stopWithin }, 'did not stop in time')
      process.exit(exitCode || 1)
    }, stopWithin).unref()
    for (const { name, release } of opened.reverse()) {
      try {
        await release()
      } catch (error) {
        log.warn({ err: error, name }, 'could not be released')
      }
    }
    log.info({ exitCode }, 'stopped')
    log.flush()
    process.exit(exitCode)
  }

  const crash: Crash = (error) => {
    log.fatal({ err: error }, 'cannot go on')
    void stop(1)
  }

  process.once('SIGTERM', () => void stop(0))
  process.once('SIGINT', () => void stop(0))
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', (reason) => crash(reason instanceof Error ? reason : new Error(String(reason))))

  try {
    await start((name, release) => opened.push({ name, release }), crash)
    log.info('started')
  } catch (error) {
    crash(error as Error)
  }
}
