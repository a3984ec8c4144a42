import { OperatorError } from './operator-error.js'

/** Lets work clean up after the first Ctrl-C; the second one ends it at once. */
export const interruptible = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const stop = new AbortController()
  const onSignal = (): void =>
    stop.abort(
      new OperatorError('interrupted: what was not swapped in yet is cleaned up, and nothing else was changed'),
    )
  process.once('SIGINT', onSignal)
  process.once('SIGTERM', onSignal)
  try {
    return await work(stop.signal)
  } finally {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
}
