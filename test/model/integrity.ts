import { entityName } from '#ledger/entities.js'
import type { Gate } from '#ledger/erasures/gates.js'
import type { Span, Submitted } from '#ledger/fence.js'
import { partitionOf, placeOf } from '#platform/kafka/partitions.js'
import { catalogue } from '#schemas/catalogue.js'
import { acceptedTopic, entityKey } from '#schemas/derive/names.js'
import type { AcceptedEvent, SubmittedBatch } from '#schemas/events.js'
import { createConsumerGroup } from './consumer-group.js'
import { partitions, types } from './edge.js'
import type { Log, TopicPartition } from './log.js'
import type { Postgres, Transaction, WaitingRow } from './postgres.js'
import { describePublished, type Published, type Queue, roundsOf } from './publishing.js'
import type { Rules, Stage } from './rules.js'
import type { Witness } from './witness.js'

/** A fetch on its way through an instance. It goes on even when the instance has lost the partition. */
export type Work = {
  by: number
  at: Span
  submitted: Submitted[]
  /** As they were when it was fetched: for a rule that is broken. */
  gates: ReadonlyMap<string, Gate>
  generation: number
  left: Stage[]
  transaction?: Transaction
  rounds?: Queue[][]
}

/**
 * `choice` picks among concurrent sends; `twice` writes a send twice; `notices`: an instance that lost the partition sees
 * it.
 */
export type How = { choice: number; twice: boolean; notices: boolean }

type Instance = { isPaused: boolean; cache: Set<string>; works: Work[] }

/** Any number of integrity instances in one consumer group. */
export const createIntegrity = (deps: {
  instances: number
  submitted: Log<SubmittedBatch>
  published: Log<Published>
  postgres: Postgres
  witness: Witness
  rules: Rules
  now: () => number
  note: (line: string) => void
}) => {
  const { submitted, published, postgres, witness, rules, now, note } = deps
  const group = createConsumerGroup(submitted)
  const start = (): Instance => ({ isPaused: false, cache: new Set(), works: [] })
  const instances = Array.from({ length: deps.instances }, start)
  const instanceOf = (i: number): Instance => {
    const instance = instances[i]
    if (!instance) throw new Error(`there is no instance ${i}`)
    return instance
  }
  let publications = 0
  /** Of what was published in the wrong order, which `weir verify` mends: by an instance that had lost the partition, or after a jump back. */
  const turnedBack = new Set<string>()

  /** Whether the instance still owns the partition that this work was fetched from. */
  const isHeld = ({ by, at, generation }: Work): boolean => group.owns(by, at) && generation === group.generation()

  const forget = (work: Work): void => {
    const { works } = instanceOf(work.by)
    works.splice(works.indexOf(work), 1)
  }

  /** The handler throws: a transaction that is open is rolled back, and the consumer begins again. */
  const drop = (work: Work): void => {
    if (work.transaction && work.left.includes('commit')) postgres.rollBack(work.transaction)
    if (isHeld(work)) group.beginAgain(work.at)
    forget(work)
  }

  const begin = (work: Work): boolean => {
    try {
      work.transaction = postgres.begin(work.at, work.submitted, instanceOf(work.by).cache, now(), work.gates)
      return true
    } catch (error) {
      if (!/are missing from the log/.test((error as Error).message)) throw error
      note(`integrity ${work.by} refuses to go on over a hole`)
      drop(work)
      return false
    }
  }

  const commit = ({ by, at, transaction }: Work): void => {
    if (!transaction) throw new Error('there is nothing to commit')
    const cursor = () => postgres.cursors.get(placeOf(at)) ?? 0
    const before = cursor()
    postgres.commit(transaction, instanceOf(by).cache)
    witness.committed(transaction, before, cursor(), now())
  }

  /** One send. Returns whether everything is published. */
  const publish = (who: string, work: Work, { choice, twice }: How): boolean => {
    const { type } = work.at.type
    work.rounds ??= roundsOf(type, work.transaction?.outcomes ?? [], (event) => rules.versionOf(event, publications++))
    const round = work.rounds[0]
    const queue = round?.[choice % round.length]
    if (!round || !queue) return true
    const messages = queue.messages.splice(0, 2)
    const isLate = !isHeld(work) || work.at.first < (group.committed.get(placeOf(work.at)) ?? 0)
    for (const message of twice ? [...messages, ...messages] : messages) {
      if (isLate) turnedBack.add(`${message.topic} ${message.key}`)
      witness.published(message, work.at.type)
      published.append(queue.topic, queue.partition, message)
    }
    note(`${who} publishes ${describePublished(messages)}${twice ? ', twice' : ''}`)
    if (queue.messages.length === 0) round.splice(round.indexOf(queue), 1)
    if (round.length === 0) work.rounds.shift()
    return work.rounds.length === 0
  }

  /** Whether the partition's owner is awake and has no work on this partition. */
  const isIdle = (place: TopicPartition): boolean => {
    const owner = group.ownerOf(place)
    if (owner === undefined || instanceOf(owner).isPaused) return false
    return !instanceOf(owner).works.some((work) => placeOf(work.at) === placeOf(place) && isHeld(work))
  }

  /** One step of a work. Returns whether the step could be taken. */
  const advance = (work: Work, how: How): boolean => {
    const [stage] = work.left
    const isOwner = isHeld(work)
    const who = `integrity ${work.by}${isOwner ? '' : ' (has lost it)'}: ${spanOf(work.at)}`
    if (stage === 'begin' && postgres.isLocked(work.at, work.submitted)) return false
    if (stage === 'begin' && !begin(work)) return true
    if (stage === 'commit') commit(work)
    if (stage === 'remember')
      for (const entity of work.transaction?.taken.entities ?? []) instanceOf(work.by).cache.add(entityName(entity))
    if (stage === 'publish') {
      // An instance that falls asleep between its check and its send does not notice.
      if (how.notices && !isOwner) {
        note(`${who} notices, and publishes no more`)
        drop(work)
        return true
      }
      if (!publish(who, work, how)) return true
    } else note(`${who} ${stage}`)
    // Kafka refuses a commit from a generation that is over.
    if (stage === 'commit offset' && isOwner) group.commit(work.at, work.at.next)
    work.left.shift()
    if (work.left.length === 0) forget(work)
    return true
  }

  const crash = (i: number): void => {
    for (const work of [...instanceOf(i).works]) drop(work)
    instances[i] = start()
    group.leave(i)
    note(`integrity ${i} crashes, and starts with nothing`)
  }

  return {
    places: group.places,
    committed: group.committed,
    turnedBack,
    /** What a relay would do that does not leave the decision to the lane: it publishes, with the version of the first place. */
    release: (row: WaitingRow): void => {
      const type = types.get(row.type)
      if (!type) return
      const { index: _, keyed_sha256: __, ...values } = row.record
      const key = entityKey(row.orgId, row.id)
      const ids = { org_id: row.orgId, request_id: row.requestId, batch_id: row.batchId }
      const value = { ...ids, accepted_at: now(), version: row.version, ...values } as unknown as AcceptedEvent
      const message = { topic: acceptedTopic(row.type), key, value }
      witness.published(message, type)
      published.append(message.topic, partitionOf(key, partitions), message)
      row.state = 'accepted'
    },
    /** The works of all instances that are awake. */
    works: (): Work[] => instances.filter(({ isPaused }) => !isPaused).flatMap(({ works }) => works),
    isHeld,
    advance,
    drop,
    /** What instances still have in hand of partitions that they have lost: none sleeps for as long as an erasure waits for Kafka. */
    dropLost: (): void => {
      for (const work of instances.flatMap(({ works }) => [...works])) if (!isHeld(work)) drop(work)
    },

    fetch: (pick: number, most: number): Work | undefined => {
      const able = group.places.filter((place) => group.hasMore(place) && isIdle(place))
      const place = able[pick % able.length]
      const type = place && [...types.values()].find((each) => place.topic.endsWith(`.${each.type}`))
      const by = place && group.ownerOf(place)
      if (!place || !type || by === undefined) return undefined
      const entries = submitted.entries(place.topic, place.partition, group.positionOf(place), most)
      const first = entries[0]?.offset ?? 0
      const next = (entries.at(-1)?.offset ?? -1) + 1
      const work: Work = {
        by,
        at: { ...place, type, isReferenced: catalogue.referenced.has(type.type), first, next },
        submitted: entries.flatMap(({ offset, value: batch }) =>
          batch ? [{ offset, timestamp: batch.submitted_at, batch }] : [],
        ),
        gates: postgres.gates(),
        generation: group.generation(),
        left: [...rules.stages],
      }
      instanceOf(by).works.push(work)
      note(`integrity ${by} fetches ${spanOf(work.at)}`)
      return work
    },

    crash,

    rebalance: (named: readonly (number | undefined)[]): void => {
      group.rebalance(named)
      note(`rebalance: ${group.describe()}`)
    },

    /** All instances end, and Kafka forgets how far their group has come. */
    loseOffsets: (): void => {
      for (const i of instances.keys()) crash(i)
      group.loseOffsets()
      group.rebalance([0, 1])
      note(`the group's offsets are lost: ${group.describe()}`)
    },

    pause: (i: number, isPaused: boolean): void => {
      if (instanceOf(i).isPaused === isPaused) return
      instanceOf(i).isPaused = isPaused
      note(`integrity ${i} ${isPaused ? 'falls asleep' : 'wakes'}`)
    },

    /**
     * What kafkajs does with an offset that it takes to be out of range: without an error it goes on from another offset.
     */
    jump: (pick: number, to: number): void => {
      // Where nothing was ever decided there is no cursor to compare with: the log may begin anywhere.
      const able = group.places.filter((place) => isIdle(place) && postgres.cursors.has(placeOf(place)))
      const place = able[pick % able.length]
      if (!place) return
      const end = submitted.end(place.topic, place.partition)
      const offset = end - (to % (end + 1))
      // A jump into what is decided and not published yet: the fence cannot see that. `weir verify` finds what stays
      // unpublished.
      const isUnseen =
        offset > (group.committed.get(placeOf(place)) ?? 0) && offset <= (postgres.cursors.get(placeOf(place)) ?? 0)
      if (isUnseen) return
      group.jump(place, offset)
      note(`integrity ${group.ownerOf(place)} jumps to ${placeOf(place)}@${offset}`)
    },
  }
}

export type Integrity = ReturnType<typeof createIntegrity>

const spanOf = (at: Span): string => `${placeOf(at)}@${at.first}-${at.next - 1}`
