import { readFileSync } from 'node:fs'
import { logFileOf } from '../../../deploy/embedded/supervision/log-file.js'
import { eventually } from '../../support/eventually.js'
import type { Finding } from '../checks/finding.js'
import type { ServiceName } from '../stack/definitions.js'
import type { FaultStack } from '../stack/start-stack.js'
import type { Scenario } from './run.js'

/** Every row of the crash table: where a process is killed, and of which service it is. */
export const failPoints = {
  'after-submit-sent': 'edge',
  'after-submit-acked': 'edge',
  'before-postgres-commit': 'integrity',
  'after-postgres-commit': 'integrity',
  'after-partial-publish': 'integrity',
  'after-publish': 'integrity',
  'after-waiting-marked': 'integrity',
  'before-resume-sent': 'integrity',
  'after-resume-sent': 'integrity',
  'before-waiting-published': 'integrity',
  'after-waiting-published': 'integrity',
  'after-clickhouse-insert': 'sink',
} as const satisfies Record<string, keyof typeof instances>
export type FailPointName = keyof typeof failPoints

const instances = {
  edge: ['edge-1', 'edge-2'],
  integrity: ['integrity-1', 'integrity-2'],
  sink: ['sink'],
} as const satisfies Record<string, readonly ServiceName[]>

/** Only one integrity instance at a time relays, and comes there: whichever it is. */
const relayPoints: readonly FailPointName[] = [
  'before-resume-sent',
  'after-resume-sent',
  'before-waiting-published',
  'after-waiting-published',
]

const diesWithin = 90_000
const latestPass = 8

/** Processes die at these fail points under load, each at one, the supervisor starts them again, and all is well. */
export const failPointScenario = (points: readonly FailPointName[], name = points.join(' ')): Scenario => {
  const deaths = deathsAt(points)
  const armed = deaths.flatMap(({ point, services }) => services.map((service) => ({ point, service })))
  const before = { reports: 0, reached: new Map<ServiceName, number>() }
  return {
    name,
    prepare: async ({ session: { stack, say }, random }) => {
      before.reports = stack.reports.length
      const passes = armed.map((each) => ({ ...each, pass: random.int(1, latestPass) }))
      await Promise.all(
        passes.map(({ point, service, pass }) => {
          before.reached.set(service, timesReached(stack, service, point))
          say(`${service} dies ${point}, when it comes there for the ${pass}. time`)
          return stack.startAnew(service, { WEIR_FAILPOINT: point, WEIR_FAILPOINT_PASS: String(pass) })
        }),
      )
    },
    disturb: async ({ session: { stack } }) => {
      const timesSince = (service: ServiceName, point: FailPointName) =>
        timesReached(stack, service, point) - (before.reached.get(service) ?? 0)
      const died = ({ point, services }: Death) => {
        const reports = stack.reports.slice(before.reports)
        const killed = services.filter((service) => reports.includes(`${service} ended (SIGKILL); starting it again`))
        if (killed.length === 0) throw new Error(`${services.join(' and ')} live on, and none was ${point}`)
        // The supervisor says that the process was killed; the process itself, that it was here.
        for (const service of killed)
          if (timesSince(service, point) !== 1) throw new Error(`${service} was killed, but not ${point}`)
      }
      const findings: Finding[] = []
      for (const death of deaths) {
        await eventually(() => died(death), diesWithin).catch((error: Error) =>
          findings.push({ name: 'did-not-die', about: error.message }),
        )
      }
      // One that has not come there would die in a later run.
      for (const { point, service } of armed) if (timesSince(service, point) === 0) await stack.startAnew(service)
      return { findings, mayOutliveSession: false }
    },
  }
}

/** One of these processes dies at this point, or one after the other. */
type Death = { point: FailPointName; services: ServiceName[] }

/** Each point in a process of its own, or in all that may come there. */
const deathsAt = (points: readonly FailPointName[]): Death[] => {
  const free = new Map(Object.entries(instances).map(([service, names]) => [service, [...names] as ServiceName[]]))
  return points.map((point) => {
    const names = free.get(failPoints[point]) ?? []
    const wanted = relayPoints.includes(point) ? instances[failPoints[point]].length : 1
    if (names.length < wanted) throw new Error(`${point}: every ${failPoints[point]} is to die somewhere else already`)
    return { point, services: names.splice(0, wanted) }
  })
}

/** How often a process has logged so far that it came to this fail point. */
export const timesReached = (stack: FaultStack, name: ServiceName, point: FailPointName): number =>
  readFileSync(logFileOf(stack.dataDir, name), 'utf8').split(`{"msg":"fail point","point":"${point}"`).length - 1
