import { pidIn, signalTree, trySignal } from '../../support/process-tree.js'
import type { ProcessName } from './definitions.js'

/** Signals to a process by its name; one that is just being started again gets none. */
export const createSignals = (dataDir: string) => {
  const pidOf = (name: ProcessName): number | undefined => {
    try {
      return pidIn(dataDir, name)
    } catch {
      // No note, or half a note: the process is just being started.
      return undefined
    }
  }
  const sendBy = (send: typeof trySignal) => (name: ProcessName, signal: NodeJS.Signals) => {
    const pid = pidOf(name)
    return pid !== undefined && send(pid, signal)
  }
  return {
    pidOf,
    send: sendBy(trySignal),
    /** To the process and all that it started: Postgres works in children. */
    sendToAll: sendBy(signalTree),
  }
}
