import { rejectionsView, viewOf } from '#schemas/derive/names.js'
import type { Finding } from '../checks/finding.js'
import { killMany, planKilling } from '../faults/killing.js'
import { createAnalyst } from '../observe/clickhouse.js'
import { type Plan, planClient, uploadTypes } from '../workload/plan.js'
import { planPersons } from '../workload/plan-persons.js'
import { planEveryType, planImports, planRetries, planWaitsInVain } from '../workload/plan-varied.js'
import { type Result, recordsIn, runScenario } from './run.js'
import type { Session } from './session.js'

export type LongRun = {
  kills: number
  parts: boolean
  waiting: boolean
  retries: boolean
  imports: boolean
  erasures: boolean
  seed: number
}
export type LongResult = Omit<Result, 'scenario' | 'lateEvents' | 'orgs'> & {
  kills: number
  /** By who was killed. */
  killed: Record<string, number>
  rounds: number
}

// After these many kills everything heals and is checked, and new organisations come: so a run needs no more memory the longer it is.
const killsInRound = 50

/** Kills, all over the system, in rounds; at the end what earlier rounds left must still be as it was, and verify finds nothing. */
export const runLong = async (
  session: Session,
  { kills, parts, waiting, retries, imports, erasures, seed }: LongRun,
  deps: { note: (line: string) => void; onRound: (result: Result) => void; isStopping: () => boolean },
): Promise<LongResult> => {
  const began = new Date()
  const plans: Plan[] = [
    planClient,
    planClient,
    planEveryType,
    ...(waiting ? [planWaitsInVain] : []),
    ...(retries ? [planRetries] : []),
    ...(imports ? [planImports] : []),
    ...(erasures ? [planPersons] : []),
  ]
  const total: LongResult = {
    ...{ seed, kills: 0, killed: {}, rounds: 0, findings: [], seconds: 0 },
    ...{ records: 0, interactions: 0, waits: 0, retries: 0, imports: 0, watched: 0, erasures: 0 },
  }
  const left: { orgs: string[]; mark: string }[] = []
  const seconds = () => (Date.now() - began.getTime()) / 1000

  while (total.kills < kills && !deps.isStopping()) {
    const round = total.rounds + 1
    const count = Math.min(killsInRound, kills - total.kills)
    const result = await runScenario(
      session,
      {
        name: `round-${round}`,
        plans,
        watches: true,
        erases: erasures,
        disturb: async ({ session: { stack, say }, random, workload: { ledger } }) => {
          await killMany(stack, planKilling(random, parts), count, (target) => {
            total.kills++
            total.killed[target] = (total.killed[target] ?? 0) + 1
            say(`kill ${total.kills}: ${target}`)
            if (total.kills % 10 === 0)
              deps.note(
                `${total.kills} of ${kills} kills, ${total.records + recordsIn(ledger)} records acknowledged, ${seconds().toFixed(0)} s`,
              )
          })
          return { findings: [], mayOutliveSession: false }
        },
      },
      seed,
    )
    total.rounds = round
    for (const what of ['records', 'interactions', 'waits', 'retries', 'imports', 'watched', 'erasures'] as const)
      total[what] += result[what]
    total.findings.push(...result.findings)
    deps.onRound(result)
    left.push({ orgs: result.orgs, mark: await markOf(session, result.orgs) })
  }

  const find = (finding: Finding): void => {
    total.findings.push(finding)
    deps.note(`${finding.name}: ${finding.about.slice(0, 1000)}`)
  }
  for (const { orgs, mark } of left) {
    const now = await markOf(session, orgs)
    const about = `${orgs.join()}: ${mark} when their round was over, ${now} at the end`
    if (now !== mark) find({ name: 'changed-later', about })
  }
  await session.verify(began).catch((error: Error) => find({ name: 'verify-disagrees', about: error.message }))
  return { ...total, seconds: seconds() }
}

/** What analysts see of these organisations, as a short text: how many rows of each type, and a sum of all that is in them. */
const markOf = async ({ stack }: Session, orgs: readonly string[]): Promise<string> => {
  const ask = createAnalyst(stack.addresses.CLICKHOUSE_URL)
  const list = orgs.map((org) => `'${org}'`).join(', ')
  const marks: string[] = []
  for (const type of [...uploadTypes, 'interactions', rejectionsView]) {
    const [row] = await ask<{ rows: string; sum: string }>(
      `select count() as rows, groupBitXor(cityHash64(*)) as sum from weir.${viewOf(type)} where org_id in (${list})`,
    )
    marks.push(`${type} ${row?.rows}/${row?.sum}`)
  }
  return marks.join(' ')
}
