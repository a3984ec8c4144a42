import { type Result, runScenario } from '../faults/runs/run.js'
import { createSession } from '../faults/runs/session.js'
import { clusterScenarios, type Pause } from './scenarios.js'
import { openHosts, startCluster } from './start-cluster.js'

export type ClusterRun = { names: readonly string[]; seeds: readonly number[] }

/** Runs these scenarios on a cluster of their own; resolves to why not, where none can be made here. */
export const runCluster = async (
  { names, seeds }: ClusterRun,
  deps: {
    say: (line: string) => void
    onResult: (result: Result, pauses: Pause[]) => void
    isStopping: () => boolean
    /** Called with what has to be stopped if the run is interrupted. */
    onStarted: (stop: () => Promise<void>) => void
  },
): Promise<string | undefined> => {
  const network = await openHosts()
  if ('whyNot' in network) return network.whyNot
  try {
    const cluster = await startCluster(network, deps)
    deps.onStarted(async () => {
      await cluster.stop()
      await network.close()
    })
    const session = createSession(cluster, deps.say)
    for (const name of names) {
      for (const seed of seeds) {
        const pauses: Pause[] = []
        const scenario = clusterScenarios.get(name)?.((pause) => pauses.push(pause))
        if (!scenario || deps.isStopping()) continue
        deps.onResult(await runScenario(session, scenario, seed), pauses)
      }
    }
    await cluster.stop()
  } finally {
    await network.close()
  }
  return undefined
}
