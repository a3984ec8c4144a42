import * as ledger from '#ledger/waiting/relay.js'
import { type Arrived, type DueWait, moveArrived } from '#ledger/waiting/turns.js'
import { makeOvertakenDue } from '#ledger/waiting/upkeep.js'
import type { WaitPlace } from '#ledger/waiting/waits.js'
import { groupBy } from '#platform/group-by.js'
import type { Log } from '#platform/health/log.js'
import { partitionOf, placeOf, type TopicPartition } from '#platform/kafka/partitions.js'
import type { Message, Producer } from '#platform/kafka/producer.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { timeOf } from '#platform/postgres/rows.js'
import type { FailAt } from '#platform/process/fail-point.js'
import { submittedKey, togetherOf, waitingKey, waitingTopic } from '#schemas/derive/names.js'
import type { WaitingEvent } from '#schemas/events.js'
import { createLooks, inFairOrder, upTo } from './fair-share.js'
import type { ResumeBytes } from './resume.js'

export type RelayDeps = {
  pool: Pool
  /** How the records of each type come to their lanes again. */
  bytesOf: (type: string) => ResumeBytes
  producer: Pick<Producer, 'send'>
  encodeWaiting: (event: WaitingEvent) => Buffer
  /** The lane that a record is sent to. */
  placeOf: (wait: ledger.SentWait) => TopicPartition
  waitingPartitions: number
  failAt: FailAt
  log: Log
  /** Postgres's clock, where nothing is said: a host whose own is a day ahead would end everybody's waiting. */
  now?: () => number
  pace?: Pace
}

// `lookAfter`: how many milliseconds a record has waited before it is looked whether what it waits for is there; mostly it has
// come by then. `tellEvery`: how often changes are published, and `tellAfter`: how old they are then; those of one record in
// this time are published as one. `overtakenEvery`: how often it is looked whether an older version decided in between.
type Pace = { lookAfter: number; tellEvery: number; tellAfter: number; overtakenEvery: number }
const usualPace: Pace = { lookAfter: 2_000, tellEvery: 1_000, tellAfter: 1_000, overtakenEvery: 10_000 }

/** One round of all that is to be done for waiting records. Resolves to what was done, and whether there is more to do at once. */
export type RelayTurn = () => Promise<Done>
type Done = 'nothing' | 'all' | 'some'

// As the edge cuts uploads: a lane decides on records that waited as it does on others, and on no more of them at a time.
const mostInBatch = 500
const mostBytesInBatch = 512 * 1024
// Of one turn, in which each organisation that has something gets its share. One record that a million wait for does not hold up others:
// of each that has arrived some are sent in a turn. A lane is given no more than it can decide until the next turn, beside uploads.
const mostOfLane = 4_000
const mostBytes = 16 * 1024 * 1024
const mostChecked = 2_000
const mostOvertaken = 2_000
const mostPublished = 1_000
const sendWithin = 10_000
const sentFor = 30_000
const mostSentLately = 100_000

/**
 * Has records that wait decided anew in their lanes: once something that they wait for is there, or their time is over. It sends,
 * and then notes that it has sent; so what it sent may be sent again. The lanes decide, and pass over what no longer waits.
 */
export const createRelayTurn = (deps: RelayDeps): RelayTurn => {
  const { pool, failAt } = deps
  let time = 0
  const now = () => time
  const elapsed = deps.now ?? (() => performance.now())
  const { lookAfter, tellEvery, tellAfter, overtakenEvery } = deps.pace ?? usualPace
  let tellFrom = Number.NEGATIVE_INFINITY
  let overtakenFrom = Number.NEGATIVE_INFINITY
  const sendToLanes = createSendToLanes(deps, now)
  const sentLately = createSentLately(elapsed)
  let moment: ledger.LookMoment | undefined
  const look = createLooks(pool, now)

  const resume = async (): Promise<Done> => {
    const { arrived, due, isAll } = await look()
    const chosen = new Map<string, DueWait>()
    const ofLane = new Map<string, number>()
    let bytes = 0
    const take = (wait: DueWait): boolean => {
      const lane = placeOf(wait)
      const before = ofLane.get(lane) ?? 0
      // One that is larger than all that fits is sent alone.
      if (before === mostOfLane || (chosen.size > 0 && bytes + wait.size > mostBytes)) return false
      bytes += wait.size
      ofLane.set(lane, before + 1)
      chosen.set(nameOf(wait), wait)
      return true
    }
    // One that is due only because its lane has not come to it in two seconds need not be sent again so soon.
    const isOnItsWay = (wait: DueWait): boolean => !wait.isNoted && sentLately.has(wait)
    const onTheirWay = due.filter(isOnItsWay)
    await ledger.markSent(pool, onTheirWay, now())
    // How many of those that wait for a record were taken, where not all were: the next turn goes on there.
    const takenOf = new Map<Arrived, number>()
    for (const { wait, behind } of inFairOrder(
      due.filter((wait) => !isOnItsWay(wait)),
      arrived,
    )) {
      if (behind && takenOf.has(behind)) continue
      if (!take(wait) && behind) takenOf.set(behind, behind.waits.indexOf(wait))
    }
    const reached = arrived.flatMap((each) => upTo(each, takenOf.get(each)) ?? [])
    if (chosen.size === 0 && reached.length === 0) return onTheirWay.length > 0 || !isAll ? 'all' : 'nothing'
    const unsent = await sendToLanes(await ledger.findWaitsToSend(pool, [...chosen.values()]))
    if (chosen.size > 0) failAt('after-resume-sent')
    const sent = [...chosen.values()].filter((wait) => !unsent.has(nameOf(wait)))
    for (const wait of sent) sentLately.add(wait)
    const unwatched = sent.filter(({ isWatched }) => !isWatched)
    await ledger.markSent(pool, unwatched, now())
    const done = reached.filter(({ waits }) => waits.every((wait) => !unsent.has(nameOf(wait))))
    await moveArrived(pool, done)
    // Never at once more: a lane also decides what is uploaded, for others too.
    return 'all'
  }

  /** Looks whether what new ones wait for is there by now; see checkWaits. */
  const check = async (): Promise<Done> => {
    const before = now() - lookAfter
    moment ??= await ledger.findMoment(pool, before)
    if (!moment) return 'nothing'
    const checked = await ledger.checkWaits(pool, moment, { now: now(), before, most: mostChecked })
    if (checked === mostChecked) return 'some'
    if (checked !== undefined) moment = undefined
    return 'all'
  }

  const endOvertaken = async (): Promise<Done> => {
    if (elapsed() < overtakenFrom) return 'nothing'
    if ((await makeOvertakenDue(pool, now(), mostOvertaken)) > 0) return 'all'
    overtakenFrom = elapsed() + overtakenEvery
    return 'nothing'
  }

  const publishChanges = async (): Promise<Done> => {
    if (elapsed() < tellFrom) return 'nothing'
    const unpublished = await ledger.findUnpublished(pool, now() - tellAfter, mostPublished)
    if (unpublished.length === 0) return 'nothing'
    failAt('before-waiting-published')
    const messages = unpublished.map(({ event }): Message => {
      return { key: waitingKey(event), value: deps.encodeWaiting(event) }
    })
    const queues = groupBy(messages, ({ key }) => partitionOf(togetherOf(key), deps.waitingPartitions))
    const deadline = performance.now() + sendWithin
    for (const [partition, queue] of queues) await deps.producer.send(waitingTopic, partition, queue, { deadline })
    failAt('after-waiting-published')
    await ledger.markPublished(pool, unpublished)
    if (unpublished.length === mostPublished) return 'some'
    tellFrom = elapsed() + tellEvery
    return 'all'
  }

  return async () => {
    time = deps.now?.() ?? (await timeOf(pool))
    const done = [await check(), await endOvertaken(), await resume(), await publishChanges()]
    return done.find((each) => each === 'some') ?? done.find((each) => each === 'all') ?? 'nothing'
  }
}

// Which records this process has sent to their lanes within half a minute, or up to a whole one. Only to spare lanes the same
// again: where it is forgotten, as by a process that ends, they are sent once more.
const createSentLately = (now: () => number) => {
  let [newer, older] = [new Set<string>(), new Set<string>()]
  let turnsAt = Number.NEGATIVE_INFINITY
  const turn = (): void => {
    if (now() < turnsAt && newer.size < mostSentLately) return
    ;[newer, older] = [new Set(), now() < turnsAt + sentFor ? newer : new Set()]
    turnsAt = now() + sentFor
  }
  // Decided anew it is another one: what it waits for now may come at once.
  const keyOf = (wait: DueWait): string => `${nameOf(wait)}/${wait.change}`
  return {
    add: (wait: DueWait): void => {
      turn()
      newer.add(keyOf(wait))
    },
    has: (wait: DueWait): boolean => {
      turn()
      return newer.has(keyOf(wait)) || older.has(keyOf(wait))
    },
  }
}

const createSendToLanes = ({ bytesOf, placeOf: laneFor, producer, failAt, log }: RelayDeps, now: () => number) => {
  /** Records of one organisation and lane; those that this version cannot read are left out, and said. */
  const toMessages = async (waits: readonly ledger.SentWait[]): Promise<Message[]> => {
    const [first] = waits
    if (!first) return []
    try {
      const { batchId: batch_id, value } = await bytesOf(first.type).resume(waits, now())
      return [{ key: submittedKey({ org_id: first.orgId, batch_id }), value }]
    } catch (error) {
      if (waits.length > 1) {
        const alone: Message[] = []
        for (const wait of waits) alone.push(...(await toMessages([wait])))
        return alone
      }
      const { batchId, place, type } = first
      log.error({ err: error, type, batch_id: batchId, place }, 'a waiting record cannot be read, and is left waiting')
      return []
    }
  }

  /** Appends these to their lanes. Resolves to the names of those that could not be. */
  return async (waits: readonly ledger.SentWait[]): Promise<Set<string>> => {
    const lanes = groupBy(waits, (wait) => placeOf(laneFor(wait)))
    const unsent = new Set<string>()
    if (lanes.size > 0) failAt('before-resume-sent')
    const send = async (lane: readonly ledger.SentWait[]): Promise<void> => {
      const [first] = lane
      if (!first) return
      const { topic, partition } = laneFor(first)
      const deadline = performance.now() + sendWithin
      try {
        for (const batch of cut(lane)) {
          const messages = await toMessages(batch)
          if (messages.length > 0) await producer.send(topic, partition, messages, { deadline })
        }
      } catch (error) {
        // Another lane's records go on all the same; these are sent in the next turn, some of them maybe again.
        for (const wait of lane) unsent.add(nameOf(wait))
        log.warn({ err: error, topic, partition }, 'waiting records not sent to their lane')
      }
    }
    await Promise.all([...lanes.values()].map(send))
    return unsent
  }
}

/** Records of one lane in batches, each of one organisation. */
const cut = (lane: readonly ledger.SentWait[]): ledger.SentWait[][] => {
  const batches: ledger.SentWait[][] = []
  let bytes = 0
  for (const wait of lane) {
    const batch = batches.at(-1)
    const isSame = batch?.[0]?.orgId === wait.orgId
    const fits = batch && batch.length < mostInBatch && bytes + wait.message.length <= mostBytesInBatch
    if (batch && isSame && fits) batch.push(wait)
    else {
      batches.push([wait])
      bytes = 0
    }
    bytes += wait.message.length
  }
  return batches
}

const nameOf = ({ batchId, place }: WaitPlace): string => `${batchId}/${place}`
