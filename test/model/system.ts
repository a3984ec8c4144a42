import { placeOf } from '#platform/kafka/partitions.js'
import type { SubmittedBatch } from '#schemas/events.js'
import { createEdge, type Edge } from './edge.js'
import { createErasing, type Erasing } from './erasing.js'
import { type Command, instances } from './history.js'
import { createIntegrity, type Integrity, type Work } from './integrity.js'
import { createLog, type Log } from './log.js'
import { createOracle, type Oracle } from './oracle.js'
import { checkNoneOverlooked, checkOutcome } from './outcome.js'
import { createPostgres, type Postgres } from './postgres.js'
import type { Published } from './publishing.js'
import { createRelay, type Relay } from './relay.js'
import { type Rules, rules as realRules, Violation } from './rules.js'
import { createSink, type Sink } from './sink.js'
import { createWitness } from './witness.js'

// The whole system in memory. Real is the code that decides: schemas/decide.ts, services/integrity/decide-fetch.ts,
// services/integrity/waiting/wait-changes.ts, services/ledger/fence.ts, isTheOneDecided in services/ledger/verdicts.ts, schemas/derive/decided-events.ts and the
// choice of partitions; of erasures services/ledger/erasures/is-erased.ts. Modelled is what surrounds it: Kafka, Postgres, ClickHouse, consumer groups, and the order in
// which take-decisions.ts, publisher.ts, the relay of waiting records, the sink and services/persons/erase work.
//
// What it does not cover: SQL, and isolation beyond "a commit is atomic, the cursor's row is locked" (the int tests do);
// Avro; messages that cannot be decoded; requests of more than one batch in a lane; the edge's answers and its 409; a request
// that comes again after its verdicts were pruned; topics that are cut off; brokers that lose what they
// acknowledged; which event of a key comes last on its topic where an instance that was asleep published it, or one that jumped
// back (`weir verify` mends it); of erasures, that a person has two ids, pseudonyms, a consumer that jumps back while one runs, and what an
// instance or a sink that was asleep for all of it sends afterwards; and time, so that "stuck" means that work is left and no step can be taken.

/** Runs a history, lets everything come to rest, and compares. Throws with all that happened where something is wrong. */
export const runHistory = (commands: readonly Command[], broken: Partial<Rules> = {}, lanes = 1): void => {
  const rules = { ...realRules, ...broken }
  const happened: string[] = []
  const note = (line: string): void => void happened.push(line)
  let time = 0
  const now = () => ++time

  const submitted = createLog<SubmittedBatch>()
  const published = createLog<Published>()
  const oracle = createOracle()
  const witness = createWitness(submitted, oracle)
  const postgres = createPostgres(rules, lanes)
  const isForgotten = (requestId: string): boolean =>
    [...postgres.forgotten.values()].some(({ request_id }) => request_id === requestId)
  const edge = createEdge(submitted, { lanes, laneOf: rules.laneOf, now, isForgotten, gates: postgres.gates }, note)
  const integrity = createIntegrity({ instances, submitted, published, postgres, witness, rules, now, note })
  const sink = createSink(published, rules, note)
  const relay = createRelay({ submitted, postgres, rules, release: integrity.release, now, note })
  const prune = createPrune(submitted, postgres, integrity, note)
  const erasing = createErasing({
    ...{ submitted, published, postgres, integrity, sink, edge, oracle, witness, rules, now, note },
  })

  try {
    integrity.rebalance([0, 1])
    const parts = { edge, integrity, sink, relay, postgres, oracle, prune, erasing, now, note }
    for (const command of commands) act(command, parts)
    note('everything is let run to its end')
    settle(parts)
    checkNoneOverlooked(postgres)
    note('the time of everything that waits is over')
    time += 1_000_000
    settle(parts)
    eraseInPeace(parts)
    checkOutcome({ submitted, published, oracle, postgres, integrity, sink, witness, erasing })
  } catch (error) {
    const what = error instanceof Violation ? error.message : ((error as Error).stack ?? String(error))
    throw new Error(`${what}\n\nWhat happened:\n${happened.map((line, n) => `${n + 1}. ${line}`).join('\n')}`)
  }
}

type Parts = {
  edge: Edge
  integrity: Integrity
  sink: Sink
  relay: Relay
  postgres: Postgres
  oracle: Oracle
  prune: Prune
  erasing: Erasing
  now: () => number
  note: (line: string) => void
}

/** Takes every step that can be taken; returns whether there was any. */
const drain = (integrity: Integrity, works: () => Work[]): boolean => {
  let hasMoved = false
  for (let isMoving = true; isMoving; hasMoved ||= isMoving) {
    isMoving = false
    for (const work of works())
      isMoving = integrity.advance(work, { choice: 0, notices: false, twice: false }) || isMoving
  }
  return hasMoved
}

/** Whoever has a partition and is awake goes on with it to its end, and so does the sink. */
const catchUp = ({ integrity, sink, relay }: Pick<Parts, 'integrity' | 'sink' | 'relay'>): void => {
  relay.send(false)
  do drain(integrity, () => integrity.works().filter(integrity.isHeld))
  while (integrity.fetch(0, 3))
  do for (const work of [...sink.works()]) while (work.left.length > 0) sink.advance(work)
  while (sink.fetch(0, 3))
}

/** All instances wake. One takes over all partitions; the others finish their old works after it. */
const settle = ({ integrity, sink, relay, erasing }: Parts): void => {
  for (let i = 0; i < instances; i++) integrity.pause(i, false)
  integrity.rebalance([0])
  /** Whether something that waited is sent to its lane. */
  const relays = (): boolean => {
    // Notes the moment and looks, twice: what it noted before may be from the middle of the history.
    for (let n = 0; n < 4; n++) relay.look()
    return relay.send(false)
  }
  sink.rebalance()
  do {
    do {
      do while (integrity.fetch(0, 3)) drain(integrity, () => integrity.works().filter(integrity.isHeld))
      while (drain(integrity, integrity.works))
    } while (relays())
    do for (const work of [...sink.works()]) while (work.left.length > 0) sink.advance(work)
    while (sink.fetch(0, 3))
  } while (erases(erasing))
}

/** Lets erasing go on as far as it gets; returns whether it got anywhere. */
const erases = (erasing: Erasing): boolean => {
  let hasMoved = false
  while (erasing.advance() === 'moved') hasMoved = true
  if (!hasMoved && erasing.isRunning()) throw new Violation('erasing is stuck')
  return hasMoved
}

/** At last, when nothing else happens: who came again is erased once more, and so is somebody else; one run does it. */
const eraseInPeace = (parts: Parts): void => {
  const { erasing, postgres, edge, note } = parts
  note('when nothing else happens, somebody is erased')
  edge.look()
  postgres.reopen()
  erasing.ask('acme', 'p0', 'refuse')
  const before = erasing.runs()
  settle(parts)
  if (erasing.runs() !== before + 1) throw new Violation('an erasure that nothing disturbs takes more than one run')
}

/** Carries out one command; does nothing where there is nothing to pick from. An instance that is asleep does nothing. */
const act = (command: Command, parts: Parts): void => {
  const { edge, integrity, sink, relay, postgres, oracle, prune, erasing, now, note } = parts
  switch (command.do) {
    case 'submit':
      edge.submit(command)
      break
    case 'submit again':
      edge.submitAgain(command.pick)
      break
    case 'fetch':
      integrity.fetch(command.pick, command.most)
      break
    case 'step': {
      const work = pickFrom(integrity.works(), command.pick)
      if (work) integrity.advance(work, command)
      break
    }
    case 'handle a fetch': {
      const work = integrity.fetch(command.pick, command.most)
      for (let n = 0; work && n < command.steps && integrity.works().includes(work); n++)
        integrity.advance(work, { choice: 0, notices: true, twice: false })
      break
    }
    case 'fail': {
      const work = pickFrom(integrity.works(), command.pick)
      if (work) integrity.drop(work)
      break
    }
    case 'crash':
      integrity.crash(command.instance)
      break
    case 'rebalance':
      integrity.rebalance(command.owners)
      break
    case 'pause':
    case 'wake':
      integrity.pause(command.instance, command.do === 'pause')
      break
    case 'jump':
      if (!erasing.isRunning()) integrity.jump(command.pick, command.to)
      break
    case 'prune':
      prune(now() - command.age, command.isLate)
      break
    case 'lose offsets':
      integrity.loseOffsets()
      break
    case 'relay looks':
      relay.look()
      break
    case 'relay sends':
      relay.send(command.forgets)
      break
    case 'relay crash':
      relay.crash()
      break
    case 'cancel': {
      const waiting = postgres.rows().filter(({ state }) => state === 'waiting')
      const row = pickFrom(waiting, command.pick)
      if (!row || !postgres.cancel(row, now())) break
      note(`${row.name} is cancelled`)
      oracle.cancel(row.batchId, row.place)
      break
    }
    case 'sink fetch':
      sink.fetch(command.pick, command.most)
      break
    case 'sink step': {
      const work = pickFrom(sink.works(), command.pick)
      if (work) sink.advance(work)
      break
    }
    case 'sink crash':
      sink.crash()
      break
    case 'sink rebalance':
      sink.rebalance()
      break
    case 'erase':
      erasing.ask(command.org, `p${command.person}`, command.afterwards)
      break
    case 'erasing goes on':
      for (let n = 0; n < command.steps; n++) {
        if (command.until !== undefined && erasing.stage() === command.until) break
        const outcome = erasing.advance()
        if (outcome === 'done' || (outcome === 'blocked' && !command.isHelped)) break
        if (outcome === 'blocked') catchUp(parts)
      }
      break
    case 'erasing crash':
      erasing.crash()
      break
    case 'edge looks':
      parts.edge.look()
      break
    default:
      command satisfies never
  }
}

/** As services/ledger/retention.ts. `isLate`: with the offsets that were committed when it looked before. */
type Prune = (before: number, isLate: boolean) => void

const createPrune = (
  submitted: Log<SubmittedBatch>,
  postgres: Postgres,
  integrity: Integrity,
  note: (line: string) => void,
): Prune => {
  let committed = new Map<string, number>()
  /** Whether all that was submitted under this request is decided. */
  const isOver = (requestId: string): boolean =>
    submitted.places().every(({ topic, partition }) => {
      const undecided = submitted.read(topic, partition, postgres.cursors.get(placeOf({ topic, partition })) ?? 0)
      return undecided.every(({ request_id }) => request_id !== requestId)
    })
  return (before, isLate) => {
    if (!isLate) committed = new Map(integrity.committed)
    const gone = integrity.places.flatMap((at) => postgres.prune(at, committed.get(placeOf(at)) ?? 0, before, isOver))
    if (gone.length > 0) note(`the verdicts on ${gone.join(', ')} are pruned`)
  }
}

const pickFrom = <T>(all: readonly T[], pick: number): T | undefined => all[pick % all.length]
