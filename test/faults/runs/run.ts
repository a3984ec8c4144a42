import { within } from '#platform/process/within.js'
import { eventually } from '../../support/eventually.js'
import { checkAll } from '../checks/check-all.js'
import type { Finding } from '../checks/finding.js'
import { startFollowing } from '../observe/feed-follower.js'
import { observe } from '../observe/observed.js'
import { startSubscriber } from '../observe/subscriber.js'
import { createRandom, type Random } from '../random.js'
import type { FaultStack } from '../stack/start-stack.js'
import type { Ledger } from '../workload/ledger.js'
import { organisationNames } from '../workload/organisation-names.js'
import type { Plan } from '../workload/plan.js'
import { expectStreamsFree, startWatchers } from '../workload/watchers.js'
import { startWorkload, type Workload } from '../workload/workload.js'
import type { Session, TestedStack } from './session.js'

/** One seeded history: what is done to the system while clients use it. */
export type Scenario<Stack extends TestedStack = FaultStack> = {
  name: string
  disturb: (context: { session: Session<Stack>; random: Random; workload: Workload }) => Promise<Disturbance>
  /** Before the clients come. */
  prepare?: (context: { session: Session<Stack>; random: Random }) => Promise<void>
  /** What the clients of each organisation do, where it is not the usual. */
  plans?: readonly Plan[]
  /** Milliseconds that each client thinks at most before its next step, where it is not the usual. */
  longestThought?: number
  /** Whether there are live streams too. */
  watches?: boolean
  /** Whether persons are erased. */
  erases?: boolean
}
export type Disturbance = {
  findings: Finding[]
  /** An old event may have followed a newer one on its topic: `weir verify` mends that, so here it is only counted. */
  mayOutliveSession: boolean
}

export type Result = {
  scenario: string
  seed: number
  findings: Finding[]
  lateEvents: number
  records: number
  interactions: number
  /** Records that waited, refused records that were submitted again, imports, events seen on live streams. */
  waits: number
  retries: number
  imports: number
  watched: number
  erasures: number
  orgs: string[]
  seconds: number
}

const usualOrganisations = 3
const stepsAfterwards = 3
const stepsWithin = 120_000
const answeredWithin = 180_000

/** Clients, faults, healing, quiet, and then every check. */
export const runScenario = async <Stack extends TestedStack>(
  session: Session<Stack>,
  scenario: Scenario<Stack>,
  seed: number,
  organisations = usualOrganisations,
): Promise<Result> => {
  const began = Date.now()
  const random = createRandom(`${seed}/${scenario.name}`)
  const { findings, lateEvents, ledger } = await live(
    session,
    scenario,
    organisationNames(`${scenario.name}-${seed}`, organisations),
    random,
  )
  return {
    scenario: scenario.name,
    seed,
    findings,
    lateEvents,
    records: recordsIn(ledger),
    interactions: ledger.interactions.length,
    waits: ledger.uploads.flatMap(({ batches }) => batches).reduce((sum, { waited }) => sum + waited.length, 0),
    retries: ledger.retries.reduce((sum, { records }) => sum + records, 0),
    imports: ledger.imports,
    watched: ledger.watched,
    erasures: ledger.erasures.length,
    orgs: ledger.orgs,
    seconds: (Date.now() - began) / 1000,
  }
}

const live = async <Stack extends TestedStack>(
  session: Session<Stack>,
  scenario: Scenario<Stack>,
  names: string[],
  random: Random,
) => {
  const { stack } = session
  const began = new Date()
  await stack.untilReady()
  const orgs = await session.newOrganisations(names)
  await scenario.prepare?.({ session, random: random.fork('prepare') })
  const workload = startWorkload({
    organisations: orgs,
    edgeUrls: stack.edgeUrls,
    lanes: stack.lanesHad,
    random: random.fork('workload'),
    ...(scenario.plans && { plans: scenario.plans }),
    ...(scenario.longestThought && { longestThought: scenario.longestThought }),
  })
  const { ledger } = workload
  const feeds = startFollowing({ organisations: orgs, edgeUrls: stack.edgeUrls, random: random.fork('feeds') })
  const watched = { organisations: orgs, edgeUrls: stack.edgeUrls, ledger, random: random.fork('watchers') }
  const watchers = scenario.watches ? startWatchers(watched) : undefined
  const subscriber = scenario.erases ? await startSubscriber(stack.addresses.KAFKA_BROKERS) : undefined
  const findings: Finding[] = []
  const expect = async (name: string, work: Promise<unknown>): Promise<void> => {
    await work.catch((error: Error) => findings.push({ name, about: error.message }))
  }

  let mayOutliveSession = false
  const disturb = async () => {
    const disturbance = await scenario.disturb({ session, random: random.fork('faults'), workload })
    findings.push(...disturbance.findings)
    mayOutliveSession = disturbance.mayOutliveSession
  }
  await expect('not-survived', disturb())
  await stack.heal()
  await expect('not-ready', stack.untilReady())
  await expect('clients-stuck', untilSteps(workload, workload.steps() + stepsAfterwards))
  await expect('clients-stuck', within(answeredWithin, workload.stop()))
  await watchers?.stop()
  if (scenario.erases) {
    await expect('erasing-stuck', session.untilErased(ledger.orgs))
    await expect('clients-stuck', within(answeredWithin, workload.comeBack()))
  }
  await expect('waiting-stuck', session.untilNothingWaits(ledger.orgs))
  await expect('consumer-stuck', session.untilQuiet())
  // A service whose consumer heard nothing for a minute ends to be started afresh, and that minute may be over only now.
  await expect('not-ready', stack.untilReady())
  // What can no longer be looked at is not worth a second complaint.
  if (findings.some(({ name }) => name === 'not-ready')) {
    feeds.abandon()
    await subscriber?.stop()
    return { findings, lateEvents: 0, ledger }
  }

  if (watchers) await expect('streams-not-given-back', expectStreamsFree(watched))
  const topics = await session.topics.readOn()
  const { followed, surprises } = await feeds.stop()
  findings.push(...surprises.map((about) => ({ name: 'surprising-feed', about })))
  const seen = await observe({ ledger, addresses: stack.addresses, topics, lookUp: session.lookUp })
  const erasures = await session.lookAtErasures(ledger, (await subscriber?.stop()) ?? [])
  const observed = { ...seen, feeds: followed, erasures }
  const found = checkAll(ledger, observed)
  const late = found.filter(({ name }) => name === 'late-event')
  findings.push(...(mayOutliveSession ? found.filter((each) => !late.includes(each)) : found))
  // A late event is a difference, which `weir verify` would tell too.
  if (!mayOutliveSession) await expect('verify-disagrees', session.verify(began))
  return { findings, lateEvents: late.length, ledger }
}

export const recordsIn = ({ uploads }: Pick<Ledger, 'uploads'>): number =>
  uploads.reduce((sum, { step }) => sum + step.records.length, 0)

export const untilSteps = (workload: Workload, wanted: number): Promise<void> =>
  eventually(() => {
    const steps = workload.steps()
    if (steps < wanted) throw new Error(`a client has taken ${steps} steps and not ${wanted}`)
  }, stepsWithin)
