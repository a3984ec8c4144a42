/** What an operator can put right: one line that says what is wrong and what to do next. */
export class OperatorError extends Error {
  readonly exitCode: number
  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

export const fileIsThere = (file: string): OperatorError =>
  new OperatorError(`${file} is there already: name another one, or remove it`)

/** Lets work clean up after the first Ctrl-C, which aborts the signal with this message; the second one ends it at once. */
export const interruptible = async <T>(message: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const stop = new AbortController()
  const onSignal = (): void => stop.abort(new OperatorError(message))
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  try {
    return await work(stop.signal)
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}
