import { eventually } from '../../support/eventually.js'
import type { Finding } from '../checks/finding.js'
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

/** Processes die at these fail points under load, the supervisor starts them again, and all is well. */
export const failPointScenario = (points: readonly FailPointName[], name = points.join(' ')): Scenario => {
  const before = { reports: 0, reached: new Map<FailPointName, number>() }
  return {
    name,
    prepare: async ({ session: { stack, say }, random }) => {
      before.reports = stack.reports.length
      for (const point of points) {
        const service = failPoints[point]
        const pass = random.int(1, latestPass)
        before.reached.set(point, timesReached(stack, service, point))
        say(`${service} dies ${point}, when it comes there for the ${pass}. time`)
        await stack.startAnew(service, { WEIR_FAILPOINT: point, WEIR_FAILPOINT_PASS: String(pass) })
      }
    },
    disturb: async ({ session: { stack } }) => {
      const died = (point: FailPointName) => {
        const service = failPoints[point]
        const reports = stack.reports.slice(before.reports)
        if (!reports.includes(`${service} ended (SIGKILL); starting it again`)) throw new Error(`${service} lives on`)
        // The supervisor tells that it was killed, the process itself that it was here.
        const times = timesReached(stack, service, point) - (before.reached.get(point) ?? 0)
        if (times !== 1) throw new Error(`${service} was killed, but not ${point}`)
      }
      const findings: Finding[] = []
      for (const point of points) {
        await eventually(() => died(point), diesWithin).catch((error: Error) =>
          findings.push({ name: 'did-not-die', about: error.message }),
        )
      }
      return { findings, mayOutliveSession: false }
    },
  }
}
