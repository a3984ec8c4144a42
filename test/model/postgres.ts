import { type Entity, entityName } from '#ledger/entities.js'
import { type Gate, hashOfName } from '#ledger/erasures/gates.js'
import { type Decided, type LockedCursor, type Span, type Submitted, toDecided } from '#ledger/fence.js'
import type { StoredVerdict } from '#ledger/verdicts.js'
import type { BegunWait } from '#ledger/waiting/waits.js'
import { placeOf, type TopicPartition } from '#platform/kafka/partitions.js'
import { entityKey } from '#schemas/derive/names.js'
import type { SubmittedRecord, WaitState } from '#schemas/events.js'
import { decideFetch, keyedOf, type Taken, wantedOf } from '../../services/integrity/decide-fetch.js'
import { namesOf as personsIn } from './edge.js'
import { type Rules, Violation } from './rules.js'

/** Postgres as far as integrity uses it. It holds only what was committed. */
export type Postgres = ReturnType<typeof createPostgres>

/** What a transaction has read and decided. Others see it only after its commit. */
export type Transaction = {
  at: Span
  cursor: number
  readAt: number
  taken: Taken
  outcomes: Decided[]
  /** The records that others wait for and that it adds. */
  arrived: string[]
  records: Map<BegunWait, SubmittedRecord>
}

/** A row of integrity.waiting. */
export type WaitingRow = Omit<BegunWait, 'state'> & {
  name: string
  record: SubmittedRecord
  state: WaitState
  isDue: boolean
  isSent: boolean
  isChecked: boolean
  change: number
  changedAt: number
}

/** Somebody who is to be forgotten, as erasure.erasures has it. */
export type Erasure = { org: string; name: string; afterwards: 'refuse' | 'new'; isDone: boolean }

export const createPostgres = (rules: Rules, lanes: number) => {
  const cursors = new Map<string, number>()
  const replayedFrom = new Map<string, number>()
  const pruned = new Map<string, Pick<LockedCursor, 'prunedBefore' | 'prunedUntil'>>()
  const verdicts = new Map<string, StoredVerdict>()
  const lastUsed = new Map<string, number>()
  const forgotten = new Map<string, StoredVerdict>()
  const entities = new Set<string>()
  const keyed = new Map<string, Buffer>()
  const locks = new Set<string>()
  /** As integrity.request_bodies: what is committed, and what open transactions have inserted, by the partition's name. */
  const claims = new Map<string, Buffer>()
  const openClaims = new Map<string, string>()
  const claimsBodies = lanes > 1 && rules.claimsBodies
  const waiting = new Map<string, WaitingRow>()
  const arrived = new Set<string>()
  const underWay = new Set<Transaction>()
  let changes = 0
  const gates = new Map<string, Gate>()
  /** As erasure.persons: the erasures by the hash of the name, and whether such a person came since. */
  const persons = new Map<string, { erasure: Erasure; isSeen: boolean }>()
  const hashOf = (name: string): string => hashOfName(salt, name).toString('hex')

  const usedAt = ({ batch_id }: StoredVerdict): number => lastUsed.get(batch_id) ?? 0
  const namesOf = ({ orgId, missing }: WaitingRow): string[] =>
    missing.map(({ type, id }) => entityName({ orgId, type, id }))
  const isWaiting = ({ state }: WaitingRow): boolean => state === 'waiting'
  const waitingOf = (type: string): WaitingRow[] =>
    [...waiting.values()].filter((row) => isWaiting(row) && row.type === type)

  const keepWaits = ({ taken, records, readAt: changedAt }: Transaction): void => {
    const { begun, ended, prolonged } = taken.waits
    for (const { batchId, place, missing } of prolonged) {
      const row = waiting.get(`${batchId}#${place}`)
      if (row)
        Object.assign(row, { missing, isDue: false, isSent: false, isChecked: false, change: ++changes, changedAt })
    }
    for (const { batchId, place, state } of ended) {
      const row = waiting.get(`${batchId}#${place}`)
      if (state === 'superseded' && !rules.supersedes) continue
      // As what waited ends, its bytes are gone.
      if (row) Object.assign(row, { state, record: noRecord, change: ++changes, changedAt })
    }
    for (const one of begun) {
      const name = `${one.batchId}#${one.place}`
      const record = records.get(one)
      if (!record) throw new Error(`nobody knows the record of ${name}`)
      const flags = { isDue: false, isSent: false, isChecked: false, change: ++changes, changedAt }
      waiting.set(name, { ...one, name, record: one.state === 'waiting' ? record : noRecord, ...flags })
    }
  }

  const claim = (at: Span, fresh: readonly Submitted[]): Map<string, Buffer> => {
    const bodies = new Map<string, Buffer>()
    for (const { batch } of fresh) {
      openClaims.set(batch.request_id, placeOf(at))
      if (!bodies.has(batch.request_id)) bodies.set(batch.request_id, claims.get(batch.request_id) ?? batch.body_sha256)
    }
    return bodies
  }
  const release = (transaction: Transaction): void => {
    const { at } = transaction
    underWay.delete(transaction)
    locks.delete(placeOf(at))
    for (const [requestId, place] of openClaims) if (place === placeOf(at)) openClaims.delete(requestId)
  }

  return {
    cursors,
    verdicts,
    /** What was pruned, by batch id. */
    forgotten,
    /**
     * Forgets the verdicts of a partition that were last used before a moment, as services/ledger/retention.ts; not while its cursor is
     * locked. `isOver`: no batch of the request comes any more, since it would count as new.
     */
    prune: (
      at: TopicPartition,
      committed: number,
      before: number,
      isOver: (requestId: string) => boolean,
    ): string[] => {
      const place = placeOf(at)
      if (locks.has(place)) return []
      const until = rules.sparesReplayed ? Math.min(committed, replayedFrom.get(place) ?? committed) : committed
      const hasWaitedSince = (batchId: string): boolean =>
        [...waiting.values()].some((row) => row.batchId === batchId && (isWaiting(row) || row.changedAt >= before))
      const gone = [...verdicts.values()].filter(
        (verdict) =>
          placeOf(verdict) === place &&
          verdict.submitted_offset < until &&
          usedAt(verdict) < before &&
          !hasWaitedSince(verdict.batch_id) &&
          isOver(verdict.request_id),
      )
      for (const verdict of gone) {
        const known = pruned.get(place)
        pruned.set(place, {
          prunedBefore: Math.max(known?.prunedBefore ?? 0, usedAt(verdict) + 1),
          prunedUntil: Math.max(known?.prunedUntil ?? 0, verdict.submitted_offset + 1),
        })
        forgotten.set(verdict.batch_id, verdict)
        verdicts.delete(verdict.batch_id)
      }
      return gone.map(({ batch_id }) => batch_id)
    },
    entities,
    rows: (): WaitingRow[] => [...waiting.values()],
    underWay: (): ReadonlySet<object> => new Set(underWay),
    /** Whether something that it waits for is among the entities. */
    isThere: (row: WaitingRow): boolean => namesOf(row).some((name) => entities.has(name)),
    /** Whether something that it waits for was noted as there. */
    hasArrived: (row: WaitingRow): boolean => namesOf(row).some((name) => arrived.has(name)),
    forgetArrived: (): void => arrived.clear(),
    /** Ends the waiting of a record; not while its lane decides. */
    cancel: (row: WaitingRow, changedAt: number): boolean => {
      if (!isWaiting(row) || locks.has(placeOf(row))) return false
      Object.assign(row, { state: 'cancelled', record: noRecord, change: ++changes, changedAt })
      return true
    },
    isLocked: (at: Span, submitted: readonly Submitted[]) =>
      (rules.locksCursor && locks.has(placeOf(at))) ||
      (claimsBodies &&
        submitted.some(({ batch }) => (openClaims.get(batch.request_id) ?? placeOf(at)) !== placeOf(at))),

    /** As services/integrity/take-decisions.ts, in its order, up to the writes. */
    begin: (
      at: Span,
      submitted: readonly Submitted[],
      cache: ReadonlySet<string>,
      now: number,
      fetchedWith: ReadonlyMap<string, Gate>,
    ): Transaction => {
      const cursor = cursors.get(placeOf(at))
      const ids = submitted.map(({ batch }) => batch.batch_id)
      const found = pick(verdicts, ids)
      rules.refuseHole(at, cursor)
      const fresh = rules.freshOnes(submitted, cursor ?? 0, found)
      const wanted = [...wantedOf(at.type, fresh)].map(entityName)
      const known = new Set(wanted.filter((name) => cache.has(name) || entities.has(name)))
      const world = {
        isKnown:
          known.size === new Set(wanted).size ? ('all' as const) : (entity: Entity) => known.has(entityName(entity)),
        takenBefore: pick(
          keyed,
          keyedOf(at.type, fresh).map(({ orgId, id }) => entityKey(orgId, id)),
        ),
        bodies: claimsBodies ? claim(at, fresh) : firstBodies([...verdicts.values()]),
        waiting: waitingOf(at.type.type),
        roomToWait: () => ({ records: 1000, bytes: 1_000_000 }),
        sizeOf: () => 0,
        gates: rules.asksGateInside ? gates : fetchedWith,
      }
      const taken = decideFetch(at, fresh, world, now)
      for (const verdict of taken.verdicts) found.set(verdict.batch_id, verdict)
      const locked =
        cursor === undefined
          ? undefined
          : { next: cursor, overtakenUntil: 0, forgottenUntil: 0, ...(pruned.get(placeOf(at)) ?? neverPruned) }
      const outcomes = submitted
        .filter((one) => !rules.isPassedOver(at, one, found, locked, []))
        .map((one) => toDecided(at, one, found))
      locks.add(placeOf(at))
      const waitedFor = new Set([...waiting.values()].filter(isWaiting).flatMap(namesOf))
      const transaction: Transaction = {
        at,
        cursor: cursor ?? 0,
        readAt: now,
        taken,
        outcomes,
        arrived: taken.entities.map(entityName).filter((name) => waitedFor.has(name)),
        records: recordsOf(taken, fresh),
      }
      underWay.add(transaction)
      if (rules.releasesBeforeCommit) {
        for (const name of transaction.arrived) {
          arrived.add(name)
          entities.add(name)
        }
      }
      return transaction
    },

    /** All of a transaction; without this call, nothing of it. */
    commit: (transaction: Transaction, cache: ReadonlySet<string>): void => {
      const { at, taken, outcomes, readAt } = transaction
      for (const verdict of taken.verdicts) {
        if (verdicts.has(verdict.batch_id) && !rules.overwritesVerdicts)
          throw new Violation(`a second verdict on ${verdict.batch_id} is stored`)
        verdicts.set(verdict.batch_id, verdict)
      }
      for (const name of taken.entities.map(entityName)) if (!cache.has(name)) entities.add(name)
      for (const { orgId, id, bodySha256 } of taken.keyed)
        if (!keyed.has(entityKey(orgId, id))) keyed.set(entityKey(orgId, id), bodySha256)
      const before = cursors.get(placeOf(at)) ?? 0
      if (at.next > before) cursors.set(placeOf(at), at.next)
      if (at.first < before) replayedFrom.set(placeOf(at), at.first)
      else replayedFrom.delete(placeOf(at))
      for (const { verdict, isTheOneDecided } of outcomes)
        if (!isTheOneDecided || !lastUsed.has(verdict.batch_id)) lastUsed.set(verdict.batch_id, readAt)
      for (const { request_id, body_sha256 } of taken.verdicts)
        if (!claims.has(request_id)) claims.set(request_id, body_sha256)
      for (const { orgId, hash } of taken.seen) {
        const person = persons.get(`${orgId}/${hash}`)
        if (person) person.isSeen = true
      }
      keepWaits(transaction)
      for (const name of transaction.arrived) arrived.add(name)
      release(transaction)
    },

    rollBack: release,

    /** All that were asked for, done or not. */
    erasures: [] as Erasure[],
    /** Offsets of the log that erasures took messages from, by the partition's name. */
    holes: new Set<string>(),
    gates: (): ReadonlyMap<string, Gate> => new Map(gates),
    closeGate: (erasure: Erasure): void => {
      const hash = hashOf(erasure.name)
      persons.set(`${erasure.org}/${hash}`, { erasure, isSeen: false })
      gates.set(erasure.org, { salt, hashes: new Set([...(gates.get(erasure.org)?.hashes ?? []), hash]) })
    },
    openGate: ({ org, name }: Erasure): void => {
      const hash = hashOf(name)
      persons.delete(`${org}/${hash}`)
      const hashes = [...(gates.get(org)?.hashes ?? [])].filter((each) => each !== hash)
      gates.set(org, { salt, hashes: new Set(hashes) })
    },
    forgetSeen: (erasure: Erasure): void => {
      for (const person of persons.values()) if (person.erasure === erasure) person.isSeen = false
    },
    /** Begins those anew whose persons came since. */
    reopen: (): void => {
      for (const { erasure, isSeen } of persons.values()) if (isSeen) erasure.isDone = false
    },
    hasCommitted: (before: ReadonlySet<object>): boolean =>
      [...underWay].every((transaction) => !before.has(transaction)),
    /** Holds the cursors of these partitions, unless somebody else does. */
    hold: (places: readonly string[]): boolean => {
      if (places.some((place) => locks.has(place))) return false
      for (const place of places) locks.add(place)
      return true
    },
    letGo: (places: readonly string[]): void => {
      for (const place of places) locks.delete(place)
    },
    /** Takes a person out of its own rows and out of verdicts; returns the batches of these. */
    removePerson: ({ org, name }: Erasure): string[] => {
      entities.delete(entityName({ orgId: org, type: 'customers', id: name }))
      const said: string[] = []
      for (const verdict of [...verdicts.values(), ...forgotten.values()]) {
        if (verdict.org_id !== org || verdict.type !== 'customers') continue
        const isNamed = verdict.refused.some(({ id }) => id === name)
        if (!isNamed) continue
        const kept = verdicts.has(verdict.batch_id) ? verdicts : forgotten
        const refused = verdict.refused.map((each) => (each.id === name ? { ...each, id: nobody } : each))
        kept.set(verdict.batch_id, { ...verdict, refused })
        said.push(verdict.batch_id)
      }
      return said
    },
    waitsWith: ({ org, name }: Erasure): boolean =>
      [...waiting.values()].some(({ orgId, record }) => orgId === org && personsIn(record).includes(name)),
    /** As erasing sees it: the bytes of what waits are not looked into. */
    namesPerson: ({ org, name }: Erasure): boolean =>
      entities.has(entityName({ orgId: org, type: 'customers', id: name })) ||
      [...verdicts.values()].some(
        ({ org_id, type, refused }) => org_id === org && type === 'customers' && refused.some(({ id }) => id === name),
      ),
  }
}

const salt = Buffer.from('salt')
const nobody = 'nobody'
const noRecord: SubmittedRecord = { index: 0, keyed_sha256: null }

const neverPruned = { prunedBefore: undefined, prunedUntil: 0 }

/** The records that begin to wait. */
const recordsOf = ({ waits }: Taken, fresh: readonly Submitted[]): Map<BegunWait, SubmittedRecord> => {
  const batches = new Map(fresh.map(({ batch }) => [batch.batch_id, batch]))
  const records = new Map<BegunWait, SubmittedRecord>()
  for (const begun of waits.begun) {
    const record = batches.get(begun.batchId)?.records.find(({ index }) => index === begun.place)
    if (record) records.set(begun, record)
  }
  return records
}

/** SHA-256 of the body that each request was first decided with. */
const firstBodies = (verdicts: readonly StoredVerdict[]): Map<string, Buffer> => {
  const first = new Map<string, StoredVerdict>()
  for (const verdict of verdicts) {
    const known = first.get(verdict.request_id)
    if (!known || verdict.submitted_offset < known.submitted_offset) first.set(verdict.request_id, verdict)
  }
  return new Map([...first].map(([requestId, { body_sha256 }]) => [requestId, body_sha256]))
}

const pick = <T>(all: ReadonlyMap<string, T>, names: readonly string[]): Map<string, T> => {
  const found = new Map<string, T>()
  for (const name of names) {
    const value = all.get(name)
    if (value !== undefined) found.set(name, value)
  }
  return found
}
