import { eventually } from '../../support/eventually.js'
import type { ServiceName } from '../stack/definitions.js'
import { timesReached } from './reached.js'
import type { Scenario } from './run.js'

/** Every row of the crash table: where a process is killed, and which one. */
export const failPoints = {
  'after-submit-sent': 'edge-1',
  'after-submit-acked': 'edge-1',
  'before-postgres-commit': 'integrity-1',
  'after-postgres-commit': 'integrity-1',
  'after-partial-publish': 'integrity-1',
  'after-publish': 'integrity-1',
  'after-clickhouse-insert': 'sink',
} as const satisfies Record<string, ServiceName>
export type FailPointName = keyof typeof failPoints

const diesWithin = 90_000
const latestPass = 8

/** The process dies at the fail point under load, the supervisor starts it again, and all is well. */
export const failPointScenario = (point: FailPointName): Scenario => {
  const name = failPoints[point]
  const before = { reports: 0, reached: 0 }
  return {
    name: point,
    prepare: async ({ session: { stack, say }, random }) => {
      const pass = random.int(1, latestPass)
      before.reports = stack.reports.length
      before.reached = timesReached(stack, name, point)
      say(`${name} dies ${point}, when it comes there for the ${pass}. time`)
      await stack.startAnew(name, { WEIR_FAILPOINT: point, WEIR_FAILPOINT_PASS: String(pass) })
    },
    disturb: async ({ session: { stack } }) => {
      const died = () => {
        const reports = stack.reports.slice(before.reports)
        if (!reports.includes(`${name} ended (SIGKILL); starting it again`)) throw new Error(`${name} lives on`)
        // The supervisor tells that it was killed, the process itself that it was here.
        if (timesReached(stack, name, point) !== before.reached + 1) throw new Error(`${name} died, but not ${point}`)
      }
      const findings = await eventually(died, diesWithin).then(
        () => [],
        (error: Error) => [{ name: 'did-not-die', about: error.message }],
      )
      return { findings, mayOutliveSession: false }
    },
  }
}
