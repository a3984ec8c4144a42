import { setTimeout as wait } from 'node:timers/promises'
import { awaitDecisions } from '#ledger/cursors.js'
import { findGenerations } from '#ledger/layout/layout.js'
import { committedByPlace, type Group } from '#platform/kafka/committed-offsets.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import { placeOf } from '#platform/kafka/partitions.js'
import { stretchesOf } from '#platform/kafka/read-topics.js'
import { inTransaction, type Pool } from '#platform/postgres/postgres.js'
import type { Catalogue } from '#schemas/catalogue.js'
import * as names from '#schemas/derive/names.js'
import { groupsOf, sinkGroupsOf, submittedTopicsOf } from '#schemas/derive/topics.js'

type UntilReadDeps = { pool: Pool; kafka: Kafka; catalogue: Catalogue; signal: AbortSignal }

/**
 * Waits until everything that was decided before is published and stored, and everything that lies in the log is decided. A decision that began
 * before the gate was closed holds its cursor: to lock each once is to wait for it.
 */
export const untilDecided = async (deps: UntilReadDeps): Promise<void> => {
  const { pool, kafka, catalogue } = deps
  await inTransaction(pool, awaitDecisions)
  const there = await kafka.withAdmin((admin) => admin.listTopics())
  const topics = there.filter((topic) => topic.startsWith(names.submittedTopic('')))
  await untilRead(deps, new Map((await stretchesOf(kafka, topics)).map((each) => [placeOf(each), each.until])))
  const stored = [...catalogue.all.keys()].map(names.acceptedTopic)
  const rest = await stretchesOf(kafka, [...stored, names.rejectedTopic, names.waitingTopic])
  await untilRead(deps, new Map(rest.map((each) => [placeOf(each), each.until])))
}

/** Waits until integrity and the sink have read so far. */
export const untilRead = async (deps: UntilReadDeps, until: ReadonlyMap<string, number>): Promise<void> => {
  const { pool, kafka, catalogue, signal } = deps
  const generations = (await findGenerations(pool)).filter(({ state }) => state !== 'coming')
  const finished = new Set(
    generations
      .filter(({ state }) => state === 'finished')
      .flatMap(({ generation }) => submittedTopicsOf(catalogue, generation)),
  )
  const groups: Group[] = [
    ...generations
      .filter(({ state }) => state !== 'finished')
      .flatMap(({ generation }) => Object.values(groupsOf(catalogue, generation))),
    ...Object.values(sinkGroupsOf(catalogue)),
  ]
  const wanted = [...until].filter(([place]) => {
    const topic = place.slice(0, place.lastIndexOf('/'))
    return topic !== names.verdictsTopic && !finished.has(topic)
  })
  const begun = await beginnings(kafka, wanted)
  for (;;) {
    signal.throwIfAborted()
    const committed = await committedByPlace(kafka, groups)
    if (wanted.every(([place, end]) => end <= (begun.get(place) ?? 0) || (committed.get(place) ?? 0) >= end)) return
    await wait(200, undefined, { signal })
  }
}

/** Where partitions begin in which nothing is: nobody commits there. */
const beginnings = async (kafka: Kafka, wanted: readonly [string, number][]): Promise<Map<string, number>> => {
  const topics = [...new Set(wanted.map(([place]) => place.slice(0, place.lastIndexOf('/'))))]
  const all = await stretchesOf(kafka, topics)
  return new Map(all.filter(({ from, until }) => from >= until).map((each) => [placeOf(each), each.until]))
}
