import { afterAll, beforeAll, expect, it } from 'vitest'
import { runScenario } from '../faults/runs/run.js'
import { createSession } from '../faults/runs/session.js'
import { clusterScenarios, type Pause } from './scenarios.js'
import { type Cluster, openHosts, startCluster } from './start-cluster.js'

// One seed each, on one cluster; `npm run faults -- --cluster` runs more.
const within = 1_800_000
const organisations = 1

const network = await openHosts()
let cluster: Cluster
const said: string[] = []
beforeAll(async () => {
  if ('whyNot' in network) return
  cluster = await startCluster(network, { say: (line) => said.push(line) })
}, within)
afterAll(async () => {
  await cluster?.stop()
  if ('close' in network) await network.close()
}, within)

it.for([...clusterScenarios.keys()])(
  'nothing is lost, there twice or stale on a cluster: %s',
  { timeout: within },
  async (name, { skip }) => {
    if ('whyNot' in network) skip(network.whyNot)
    said.length = 0
    const pauses: Pause[] = []
    const scenario = clusterScenarios.get(name)?.((pause) => pauses.push(pause))
    if (!scenario) throw new Error(`there is no ${name}`)
    const session = createSession(cluster, (line) => said.push(line))
    const { findings, records } = await runScenario(session, scenario, 1, organisations)
    for (const { what, ms } of pauses)
      process.stderr.write(`${what}: no upload was accepted for ${(ms / 1000).toFixed(1)} s\n`)
    expect(findings, said.join('\n')).toEqual([])
    expect(records).toBeGreaterThan(0)
  },
)
