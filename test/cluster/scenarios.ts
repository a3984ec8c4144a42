import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Kafka, logLevel } from 'kafkajs'
import type { Finding } from '../faults/checks/finding.js'
import type { Scenario } from '../faults/runs/run.js'
import { type Plan, planClient } from '../faults/workload/plan.js'
import { planEveryType, planImports, planRetries, planWaitsInVain } from '../faults/workload/plan-varied.js'
import type { Workload } from '../faults/workload/workload.js'
import { eventually } from '../support/eventually.js'
import { runWeir } from '../support/run-weir.js'
import { membersOf } from '../support/system/groups.js'
import { readyzOf } from '../support/system/readiness.js'
import { otherOf, type PostgresHost, postgresHosts } from './postgres-pair.js'
import { type BrokerName, brokers, type Cluster } from './start-cluster.js'

export type ClusterScenario = Scenario<Cluster>
/** How long no upload was accepted at the most while this was done, in milliseconds. */
export type Pause = { what: string; ms: number }

type Deed = (cluster: Cluster, say: (line: string) => void, workload: Workload) => Promise<void>

// For machines that are busy with something else: they make a run slow, never red.
const within = 600_000
const uploadsBetween = 30

type History = {
  deeds: readonly { what: string; do: Deed }[]
  mayOutliveSession?: boolean
  plans?: readonly Plan[]
}

const ofAllKinds: readonly Plan[] = [planClient, planEveryType, planWaitsInVain, planRetries, planImports]

// What is in Postgres alone is gone, as retries are that were ordered since.
const allButRetries = ofAllKinds.filter((plan) => plan !== planRetries)

/** Under load of all kinds these are done one after another, with some uploads after each. */
const scenario = (
  name: string,
  { deeds, mayOutliveSession = false, plans = ofAllKinds }: History,
  note: (pause: Pause) => void,
): ClusterScenario => ({
  name,
  plans,
  watches: true,
  disturb: async ({ session: { stack, say }, workload }) => {
    const findings: Finding[] = []
    await goOn(workload)
    for (const { what, do: deed } of deeds) {
      say(what)
      const from = Date.now()
      await deed(stack, say, workload)
      await goOn(workload)
      const ms = longestPause(workload.answeredAt, from, Date.now())
      say(`${what}: no upload was accepted for ${ms} ms`)
      note({ what, ms })
    }
    return { findings, mayOutliveSession }
  },
})

/** The longest time without an answer between two moments, in milliseconds. */
const longestPause = (answeredAt: readonly number[], from: number, until: number): number => {
  const moments = [from, ...answeredAt.filter((at) => at > from && at < until).sort((a, b) => a - b), until]
  return Math.max(...moments.slice(1).map((at, n) => at - (moments[n] ?? at)))
}

/** Uploads go on, whatever is away. */
const goOn = ({ answeredAt }: Workload, uploads = uploadsBetween): Promise<void> => {
  const wanted = answeredAt.length + uploads
  return eventually(() => {
    if (answeredAt.length < wanted)
      throw new Error(`${wanted - answeredAt.length} of ${uploads} uploads are not answered`)
  }, within)
}

const killBroker =
  (name: BrokerName): Deed =>
  async (cluster, _, workload) => {
    await cluster.kill(name)
    await goOn(workload)
    await cluster.start(name)
    await untilInSync(cluster)
  }

const killController: Deed = async (cluster, say, workload) => {
  const name = controllerOf(cluster)
  say(`the controller is ${name}`)
  await killBroker(name)(cluster, say, workload)
}

const cutOffBroker =
  (name: BrokerName): Deed =>
  async (cluster, _, workload) => {
    const { network } = cluster
    for (const other of brokers) if (other !== name) await network.cut(name, other)
    await goOn(workload, 2 * uploadsBetween)
    await network.mendAll()
    await untilInSync(cluster)
  }

const restartBroker =
  (name: BrokerName): Deed =>
  async (cluster) => {
    await cluster.stopOne(name)
    await cluster.start(name)
    await untilInSync(cluster)
  }

const primaryOf = async ({ postgres }: Cluster): Promise<PostgresHost> => {
  for (const host of postgresHosts) {
    const [row] = await postgres.ask<{ standby: boolean }>(host, 'select pg_is_in_recovery() as standby')
    if (row?.standby === false) return host
  }
  throw new Error('no Postgres takes writes')
}

/** Back as a standby of the one that took its place, with all that this one has. */
const bringBack = async (cluster: Cluster, host: PostgresHost): Promise<void> => {
  const { postgres } = cluster
  await postgres.copyFromOther(host)
  await cluster.start(host)
  await postgres.untilCopied(otherOf(host))
  await postgres.setSynchronous(otherOf(host), true)
}

const failOver: Deed = async (cluster, say, workload) => {
  const { postgres } = cluster
  const old = await primaryOf(cluster)
  const next = otherOf(old)
  say(`${old} is killed, ${next} promoted`)
  await cluster.kill(old)
  // As Patroni does where it is not strict: without a standby the new primary commits by itself until one is back.
  await postgres.setSynchronous(next, false)
  await postgres.promote(next)
  await goOn(workload)
  await bringBack(cluster, old)
}

/**
 * The old primary is started as it was, a primary beside the one that took its place. Services that know both go by the newer
 * one, also those that are started now; and without its standby the old one can promise nothing to anybody else either.
 */
const oldPrimaryReturns: Deed = async (cluster, say, workload) => {
  const { postgres } = cluster
  const old = await primaryOf(cluster)
  const next = otherOf(old)
  await cluster.kill(old)
  await postgres.setSynchronous(next, false)
  await postgres.promote(next)
  await goOn(workload)
  await cluster.start(old)
  const [before] = await postgres.ask(old, decided)
  say(`${old} is back and takes writes, beside ${next}`)
  for (const name of ['edge-1', 'integrity-1', 'integrity-2']) {
    await cluster.stopOne(name)
    await cluster.start(name)
  }
  await goOn(workload, 2 * uploadsBetween)
  const [after] = await postgres.ask(old, decided)
  if (JSON.stringify(after) !== JSON.stringify(before))
    throw new Error(`${old} was written to: ${JSON.stringify({ before, after })}`)
  const written = await postgres.ask(old, 'create table of_a_stranger (n integer)').then(
    () => true,
    () => false,
  )
  if (written) throw new Error(`${old} has no standby and commits`)
  await cluster.kill(old)
  await bringBack(cluster, old)
}

const decided = `select count(*) as verdicts, max(decided_at) as last from integrity.verdicts`

/** Decisions that the standby never got are gone with the primary. */
const failOverToLaggard: Deed = async (cluster, say, workload) => {
  const { postgres, network } = cluster
  const old = await primaryOf(cluster)
  const next = otherOf(old)
  await postgres.setSynchronous(old, false)
  await network.cut(old, next)
  await goOn(workload, 2 * uploadsBetween)
  await cluster.kill(old)
  await network.mendAll()
  await postgres.promote(next)
  say(`${next} is promoted and lacks what was decided since it was cut off`)
  await mendWhatWentBack(cluster, say)
  await bringBack(cluster, old)
}

/** Both servers are lost, and one is restored from a backup and the log's archive, to a moment before the end. */
const restoreToAMoment: Deed = async (cluster, say, workload) => {
  const { postgres } = cluster
  const old = await primaryOf(cluster)
  await postgres.backUp(old)
  await goOn(workload)
  const [now] = await postgres.ask<{ moment: string }>(old, 'select clock_timestamp()::text as moment')
  await goOn(workload, 2 * uploadsBetween)
  for (const host of postgresHosts) await cluster.kill(host)
  await postgres.restore(old, now?.moment ?? '')
  await cluster.start(old)
  say(`${old} is restored as it was at ${now?.moment}, and lacks what was decided since then`)
  await mendWhatWentBack(cluster, say)
  await bringBack(cluster, otherOf(old))
}

/** Integrity notices that decisions are gone, and an operator does what the runbook says. */
const mendWhatWentBack = async (cluster: Cluster, say: (line: string) => void): Promise<void> => {
  await eventually(async () => {
    const told = await Promise.all(integrities.map(async (name) => JSON.stringify(await readyzOf(cluster.urlOf(name)))))
    if (!told.every((text) => text.includes('Postgres went back'))) throw new Error(`it is not noticed: ${told.join()}`)
  }, within)
  say('integrity has noticed')
  for (const name of integrities) await cluster.stopOne(name)
  for (const words of [['rebuild', 'index'], ['accept-loss'], ['accept-loss', '--yes']]) {
    const { exitCode, stdout, stderr } = await runWeir(words, cluster.addresses)
    say(`weir ${words.join(' ')} ends with ${exitCode}: ${stdout}${stderr}`)
  }
  for (const name of integrities) await cluster.start(name)
}
const integrities = ['integrity-1', 'integrity-2']

const group = 'weir-integrity'

const addIntegrity: Deed = async (cluster, say, workload) => {
  const began = Date.now()
  await cluster.start('integrity-3')
  await untilMembers(cluster, 3)
  say(`integrity-3 has its share ${Date.now() - began} ms after it was started`)
  await goOn(workload)
}
const takeIntegrityAway =
  (how: 'stopOne' | 'kill'): Deed =>
  async (cluster) => {
    await cluster[how]('integrity-3')
    await untilMembers(cluster, 2)
  }

/** Until each of so many members has partitions of its own. */
const untilMembers = ({ addresses }: Cluster, wanted: number): Promise<void> =>
  eventually(async () => {
    const [members = []] = await membersOf(addresses.KAFKA_BROKERS, [group])
    if (members.length !== wanted) throw new Error(`${group} has ${members.length} members`)
  }, within)

/** Every kind of history on a cluster, by the name that `--only` takes. */
export const clusterScenarios: ReadonlyMap<string, (note: (pause: Pause) => void) => ClusterScenario> = new Map(
  Object.entries({
    'brokers-killed': { deeds: brokers.map((name) => ({ what: `${name} killed`, do: killBroker(name) })) },
    'controller-killed': { deeds: [{ what: 'the controller killed', do: killController }] },
    'rolling-restart': { deeds: brokers.map((name) => ({ what: `${name} restarted`, do: restartBroker(name) })) },
    'broker-cut-off': {
      deeds: brokers.map((name) => ({ what: `${name} cut off from the others`, do: cutOffBroker(name) })),
      // The broker that is cut off may count a consumer as a member whose partitions the others gave to another one.
      mayOutliveSession: true,
    },
    'postgres-fails-over': {
      deeds: [
        { what: 'the primary killed, the standby promoted', do: failOver },
        { what: 'and back again', do: failOver },
      ],
    },
    'old-primary-returns': { deeds: [{ what: 'the old primary back as a primary', do: oldPrimaryReturns }] },
    'standby-lagged': {
      deeds: [{ what: 'a standby promoted that lagged', do: failOverToLaggard }],
      plans: allButRetries,
    },
    'postgres-restored': {
      deeds: [{ what: 'Postgres restored to a moment before the end', do: restoreToAMoment }],
      plans: allButRetries,
    },
    'integrity-comes-and-goes': {
      deeds: [
        { what: 'an integrity added', do: addIntegrity },
        { what: 'and stopped', do: takeIntegrityAway('stopOne') },
        { what: 'added again', do: addIntegrity },
        { what: 'and killed', do: takeIntegrityAway('kill') },
      ],
    },
  } satisfies Record<string, History>).map(([name, history]) => [name, (note) => scenario(name, history, note)]),
)

const clientOf = ({ addresses }: Pick<Cluster, 'addresses'>) =>
  new Kafka({ brokers: addresses.KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING }).admin()

/** The node that leads the others. Brokers name any of them to clients; what they voted is in a file of each. */
const controllerOf = ({ dataDir }: Cluster): BrokerName => {
  const votes = brokers.map((name) => {
    const file = join(dataDir, name, 'kafka/log/__cluster_metadata-0/quorum-state')
    return JSON.parse(readFileSync(file, 'utf8')) as { leaderId: number; leaderEpoch: number }
  })
  const [newest] = votes.sort((a, b) => b.leaderEpoch - a.leaderEpoch)
  return brokers[(newest?.leaderId ?? 0) - 1] ?? 'kafka-1'
}

/** Until every partition has all of its copies in sync again. */
const untilInSync = async (cluster: Pick<Cluster, 'addresses'>): Promise<void> => {
  const admin = clientOf(cluster)
  await admin.connect()
  try {
    await eventually(async () => {
      const { topics } = await admin.fetchTopicMetadata()
      const behind = topics.flatMap(({ name, partitions }) =>
        partitions
          .filter(({ isr, replicas }) => isr.length < replicas.length)
          .map(({ partitionId }) => `${name}/${partitionId}`),
      )
      if (behind.length > 0) throw new Error(`not in sync: ${behind.length} partitions, ${behind[0]} for one`)
    }, within)
  } finally {
    await admin.disconnect()
  }
}
