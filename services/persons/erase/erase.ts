import { setTimeout as wait } from 'node:timers/promises'
import { type Erasure, forgetSeen, noteFound, noteNames, noteStep } from '#ledger/erasures/erasures.js'
import { closeGate, hashOfName, nameOfAll, saltOf } from '#ledger/erasures/gates.js'
import { noteHoles } from '#ledger/erasures/holes.js'
import { keptConfigs } from '#ledger/erasures/topic-configs.js'
import { findGenerations } from '#ledger/layout/layout.js'
import { closeOrg } from '#ledger/organisations.js'
import { endWaitsWith } from '#ledger/waiting/of-persons.js'
import { groupBy } from '#platform/group-by.js'
import type { Log } from '#platform/health/log.js'
import { removeMessages, restoreConfigs } from '#platform/kafka/admin/removal.js'
import { placeOf } from '#platform/kafka/partitions.js'
import { stretchesOf } from '#platform/kafka/read-topics.js'
import { type Connection, inTransaction } from '#platform/postgres/postgres.js'
import * as names from '#schemas/derive/names.js'
import { isUuid } from '#schemas/uuid.js'
import { createRests, type GivesWay } from '../remove/giving-way.js'
import { createFindPersons } from '../who.js'
import { createErasedTables } from './clickhouse.js'
import { type GoneDeps, publishGone } from './gone-events.js'
import { countInPostgres, removeFromPostgres } from './postgres.js'
import { endsOf, type Named, readForPersons, topicsOf } from './read-topics.js'
import { namesOf, type Sought, soughtBy } from './sought.js'
import { untilDecided, untilRead } from './until-read.js'
import { createWhoIsNamed } from './who-is-named.js'

export type EraseDeps = Omit<GoneDeps, 'generations'> & { log: Log; place: { cluster?: string | undefined } }

const removedWithin = 30 * 60_000
const endedWithin = 10 * 60_000

/**
 * Forgets the persons of some erasures at once: a run reads every topic from end to end, whoever is sought. Each step can be done again, so a run
 * that was cut off anywhere is begun anew. First nothing more is accepted of them, then what is there goes: from the topics, which everything
 * else is made from, then from the tables.
 */
export const erase = async (deps: EraseDeps, given: readonly Erasure[]): Promise<void> => {
  const { pool, kafka, catalogue, clickhouse, signal, log } = deps
  const step = async (name: string, of = given): Promise<void> => {
    signal.throwIfAborted()
    log.info({ step: name, erasures: of.length }, 'erasing')
    await noteStep(pool, idsOf(of), name)
  }
  const givesWay = createRests({ signal })
  const tables = createErasedTables(clickhouse, catalogue, deps.place, givesWay)
  await restoreConfigs({ kafka, kept: keptConfigs(pool) })

  await step('who it is')
  // The tables tell the names: they have to have what was sent before somebody asked.
  if (given.some(({ known }) => known === null)) await untilDecided(deps)
  const erasures = await findNames(deps, given, givesWay)
  const real = erasures.filter(({ isDryRun }) => !isDryRun)
  await step('nothing more is accepted', real)
  for (const [orgId, own] of groupBy(real, (erasure) => erasure.orgId))
    await inTransaction(pool, (connection) => close(connection, orgId, own))
  const sought = await soughtBy(pool, erasures)
  const soughtReal = await soughtBy(pool, real)
  await untilDecided(deps)
  for (const one of soughtReal) await untilNothingWaits(deps, one, real)
  await forgetSeen(pool, idsOf(real))

  await step('reading the topics')
  const whoIsNamed = createWhoIsNamed(sought)
  const topics = await topicsOf(kafka, catalogue, sought)
  const read = await readForPersons(deps, await stretchesOf(kafka, topics), whoIsNamed)
  const found = new Map(erasures.map(({ erasureId }) => [erasureId, [...(read.counts.get(erasureId) ?? [])]]))
  for (const one of sought)
    for (const counts of [await tables.count(one), await countInPostgres(pool, one, givesWay)])
      for (const [erasureId, more] of counts) found.get(erasureId)?.push(...more)
  await noteFound(pool, found)
  if (real.length === 0) return

  await step('taking the person out of the topics', real)
  const isReal = new Set(real.map(({ erasureId }) => erasureId))
  const named = read.named.filter(({ erasures: whose }) => [...whose].some((id) => isReal.has(id)))
  const whoIsReal = createWhoIsNamed(soughtReal)
  refuseSharedKeys(named, read.sharedKeys)
  const generations = await findGenerations(pool)
  const byId = new Map(real.map((erasure) => [erasure.erasureId, erasure]))
  await publishGone({ ...deps, generations }, named, whoIsReal, byId)
  // What was published since, the messages without a value too: these have to go as well.
  const ends = endsOf(read.stretches)
  const later = (await stretchesOf(kafka, topics)).map((each) => ({
    ...each,
    from: ends.get(placeOf(each)) ?? each.from,
  }))
  const since = await readForPersons(deps, later, whoIsReal)
  const all = [...named, ...since.named]
  await noteRemoved(deps, real, all)

  await step('waiting for Kafka to compact', real)
  const removals = [...groupBy(all, placeOf).values()].map((here) => ({
    ...{ topic: here[0].topic, partition: here[0].partition },
    keys: new Set(names.isAcceptedTopic(here[0].topic) ? [] : here.map(({ key }) => key ?? '')),
    offsets: here.map(({ offset }) => offset),
  }))
  await removeMessages({ ...deps, kept: keptConfigs(pool) }, removals, {
    beforeCompaction: (until) => untilRead(deps, until),
    within: removedWithin,
    signal,
  })

  await step('taking the person out of the tables', real)
  for (const one of soughtReal) {
    await tables.remove(one, signal)
    await removeFromPostgres(pool, one, givesWay)
  }
}

/**
 * Has records of theirs that wait decided now: they are refused, and with that their bytes are gone. Not before the decisions that began
 * before the gate was closed have ended, since these may let more of them wait.
 */
const untilNothingWaits = async (
  { pool, signal }: EraseDeps,
  { orgId, salt, persons, whole }: Sought,
  real: readonly Erasure[],
): Promise<void> => {
  const known = real.filter((erasure) => erasure.orgId === orgId).flatMap(namesOf)
  const sha256 = [...persons.values()].flat().map((hash) => Buffer.from(hash, 'hex'))
  const texts = known.filter((name) => !isUuid(name))
  for (const until = performance.now() + endedWithin; ; await wait(1_000, undefined, { signal })) {
    const waiting = await endWaitsWith(pool, { orgId, isAll: whole.length > 0, salt, sha256, texts })
    if (waiting === 0) return
    if (performance.now() > until)
      throw new Error(`${waiting} records that name them still wait: integrity does not decide on them`)
  }
}

const idsOf = (erasures: readonly Erasure[]): string[] => erasures.map(({ erasureId }) => erasureId)

/** The names are found once: when the records are gone, nothing tells them. */
const findNames = async (
  { pool, clickhouse, catalogue }: EraseDeps,
  given: readonly Erasure[],
  givesWay: GivesWay,
): Promise<Erasure[]> => {
  const findPersons = createFindPersons(
    { query: (sql, values, settings) => givesWay(() => clickhouse.query(sql, values, settings)) },
    catalogue,
  )
  const found = new Map<string, Erasure>()
  const unknown = given.filter(({ known }) => known === null)
  for (const [orgId, own] of groupBy(unknown, (erasure) => erasure.orgId)) {
    const salt = await saltOf(pool, orgId)
    const ids = own.flatMap(({ mode, personId }) => (mode === 'organisation' ? [] : [personId ?? '']))
    const persons = await findPersons(orgId, ids)
    for (const erasure of own) {
      const { customerIds = [], userIds = [] } = persons.get(erasure.personId ?? '') ?? {}
      const known = { customerIds, userIds }
      const hashes = behindGate({ ...erasure, known }).map((name) => hashOfName(salt, name).toString('hex'))
      found.set(erasure.erasureId, { ...erasure, known, names: [...new Set(hashes)] })
    }
  }
  await noteNames(pool, [...found.values()])
  return given.map((erasure) => found.get(erasure.erasureId) ?? erasure)
}

/** The names whose records are refused. */
const behindGate = (erasure: Pick<Erasure, 'orgId' | 'mode' | 'known'>): string[] =>
  erasure.mode === 'organisation' ? [nameOfAll(erasure.orgId)] : namesOf(erasure)

/** From the commit on, nothing more is accepted of these persons, or for the organisation. */
const close = async (connection: Connection, orgId: string, erasures: readonly Erasure[]): Promise<void> => {
  if (erasures.some(({ mode }) => mode === 'organisation')) await closeOrg(connection, orgId)
  const behind = erasures.flatMap((erasure) =>
    behindGate(erasure).map((name) => ({ name, erasureId: erasure.erasureId })),
  )
  await closeGate(connection, orgId, behind)
}

/** Compaction keeps one message of each key. Those of a Weir from before had one key for all that an organisation sent. */
const refuseSharedKeys = (named: readonly Named[], sharedKeys: ReadonlyMap<string, number>): void => {
  for (const topic of new Set(named.map((each) => each.topic))) {
    const newest = sharedKeys.get(topic)
    if (newest === undefined) continue
    throw new Error(
      `${topic} holds messages that a Weir from before erasures wrote; none can be removed by itself until the last of them is older than the topic keeps them: it is of ${new Date(newest).toISOString()}`,
    )
  }
}

const noteRemoved = async ({ pool }: EraseDeps, real: readonly Erasure[], named: readonly Named[]): Promise<void> => {
  const submitted = named.filter(({ topic }) => topic.startsWith(names.submittedTopic('')))
  const erasureId = real[0]?.erasureId ?? ''
  await noteHoles(
    pool,
    erasureId,
    submitted.map(({ topic, partition, offset }) => ({ topic, partition, offset })),
  )
}
