import type { ProcessDefinition } from './process-definition.js'
import { type SupervisedProcess, superviseProcess } from './supervised-process.js'

export type Supervisor = {
  /** Starts these side by side; resolves when all are ready, rejects with the first that cannot start. */
  start: (definitions: readonly ProcessDefinition[]) => Promise<void>
  /** Stops everything, the last named first, each in good order. */
  stop: () => Promise<void>
  /** Ends everything at once; whoever waits for `stop` then has it. */
  kill: () => void
}

export const createSupervisor = (options: {
  dataDir: string
  report: (line: string) => void
  onReady?: (definition: ProcessDefinition, tookMs: number) => void
}): Supervisor => {
  const processes: SupervisedProcess[] = []
  let isStopping = false

  const startOne = async (definition: ProcessDefinition, supervised: SupervisedProcess) => {
    const begun = Date.now()
    await supervised.start()
    options.onReady?.(definition, Date.now() - begun)
  }

  return {
    start: async (definitions) => {
      if (isStopping) throw new Error('the supervisor is stopping')
      const begun = definitions.map((definition) => {
        const supervised = superviseProcess(definition, options)
        processes.push(supervised)
        return startOne(definition, supervised)
      })
      await Promise.all(begun)
    },
    stop: async () => {
      isStopping = true
      for (const supervised of processes.toReversed()) await supervised.stop()
    },
    kill: () => {
      isStopping = true
      for (const supervised of processes) supervised.kill()
    },
  }
}
