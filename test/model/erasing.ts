import { partitionOf, placeOf } from '#platform/kafka/partitions.js'
import { acceptedTopic, entityKey, rejectedTopic, submittedTopic, verdictsTopic } from '#schemas/derive/names.js'
import type { AcceptedEvent, RejectedEvent, SubmittedBatch, VerdictEvent } from '#schemas/events.js'
import { personFieldsOf } from '#schemas/persons/about-persons.js'
import { hasVersions, type RecordType } from '#schemas/record.js'
import { type Edge, namesOf, partitions, types } from './edge.js'
import type { Integrity } from './integrity.js'
import type { Log, TopicPartition } from './log.js'
import type { Oracle } from './oracle.js'
import type { Erasure, Postgres } from './postgres.js'
import type { Published } from './publishing.js'
import { type ErasingStage, type Rules, Violation } from './rules.js'
import type { Sink } from './sink.js'
import type { Witness } from './witness.js'

/** A message that names somebody who is to be forgotten. */
type Named = TopicPartition & { offset: number; key?: string; hasValue: boolean; isSubmitted: boolean }
type Ends = Map<string, number>

/** What a run knows, until it crashes. */
type Run = {
  erasures: Erasure[]
  left: ErasingStage[]
  named: Named[]
  /** Up to where it waits, or has read. */
  ends?: Ends | undefined
  stored?: Ends | undefined
  read?: Ends
  before?: ReadonlySet<object>
  /** The types whose records have yet to go, and what goes of the first one. */
  types: RecordType[]
  going?: { keys: string[]; held: string[] } | undefined
}

const ofPersons = [...types.values()].filter((type) => personFieldsOf(type).length > 0)

/** As services/persons/erase: forgets all whom it is asked to, in a run of stages that can crash anywhere and is then begun anew. */
export const createErasing = (deps: {
  submitted: Log<SubmittedBatch>
  published: Log<Published>
  postgres: Postgres
  integrity: Integrity
  sink: Sink
  edge: Edge
  oracle: Oracle
  witness: Witness
  rules: Rules
  now: () => number
  note: (line: string) => void
}) => {
  const { submitted, published, postgres, integrity, sink, edge, oracle, witness, rules, now, note } = deps
  let run: Run | undefined
  let runs = 0

  const endsOf = (log: Log<SubmittedBatch> | Log<Published>): Ends =>
    new Map(log.places().map(({ topic, partition }) => [placeOf({ topic, partition }), log.end(topic, partition)]))
  const isRead = (ends: Ends, committed: ReadonlyMap<string, number>): boolean =>
    [...ends].every(([place, end]) => (committed.get(place) ?? 0) >= end)
  const isStored = (ends: Ends): boolean =>
    isRead(new Map([...ends].filter(([place]) => !place.startsWith(verdictsTopic))), sink.committed)
  const isOf = ({ org, name }: Erasure, orgId: string, names: readonly string[]): boolean =>
    org === orgId && names.includes(name)

  /** Everything of the topics, from these offsets on, that names one of these. */
  const read = (erasures: readonly Erasure[], from: Ends | undefined): Named[] => {
    const named: Named[] = []
    const isMeant = (org: string, names: readonly string[]) => erasures.some((each) => isOf(each, org, names))
    for (const place of submitted.places())
      for (const { offset, value } of submitted.entries(place.topic, place.partition, from?.get(placeOf(place)) ?? 0))
        if (value && isMeant(value.org_id, namesInBatch(value)))
          named.push({ topic: place.topic, partition: place.partition, offset, hasValue: true, isSubmitted: true })
    for (const place of published.places())
      for (const { offset, value } of published.entries(place.topic, place.partition, from?.get(placeOf(place)) ?? 0))
        if (value && isMeant(orgOf(value), namesInMessage(value)))
          named.push({
            ...{ topic: place.topic, partition: place.partition, offset },
            ...{ key: value.key, hasValue: value.value !== null, isSubmitted: false },
          })
    return named
  }

  /** The keys of records of a type that are to go: whose newest row names somebody, or that no table has any more. */
  const goingOf = ({ erasures, named }: Run, type: RecordType): string[] => {
    const topic = acceptedTopic(type.type)
    const rows = new Map(
      (sink.rows(topic) as AcceptedEvent[]).map((row) => [entityKey(row.org_id, String(row[type.id])), row]),
    )
    const keys = new Set(named.flatMap((one) => (one.topic === topic && one.hasValue ? [one.key ?? ''] : [])))
    return [...keys].filter((key) => {
      const row = rows.get(key)
      return !row || erasures.some((each) => isOf(each, row.org_id, namesOf(row)))
    })
  }

  const publishGone = (current: Run): Outcome => {
    const [type] = current.types
    if (!type) return 'done'
    const topic = acceptedTopic(type.type)
    if (!current.going) {
      if (!current.named.some((one) => one.topic === topic && one.hasValue)) {
        current.types.shift()
        return 'moved'
      }
      const lanes = Array.from({ length: partitions }, (_, partition) =>
        placeOf({ topic: submittedTopic(type.type), partition }),
      )
      const held = hasVersions(type) && rules.holdsLanes ? lanes : []
      if (!postgres.hold(held)) return 'blocked'
      const isPublished = lanes.every(
        (place) => (integrity.committed.get(place) ?? 0) >= (postgres.cursors.get(place) ?? 0),
      )
      const ends = new Map([...endsOf(published)].filter(([place]) => place.startsWith(`${topic}/`)))
      if (!isPublished || !isStored(ends)) {
        postgres.letGo(held)
        return 'blocked'
      }
      current.going = { keys: goingOf(current, type), held }
      note(`erasing: ${type.type} ${current.going.keys.join(', ')} are going to go`)
      return 'moved'
    }
    const key = current.going.keys.shift()
    if (key === undefined) {
      postgres.letGo(current.going.held)
      current.going = undefined
      current.types.shift()
      return 'moved'
    }
    const [org = '', id = ''] = key.split('/')
    const isMeant = (name: string) => current.erasures.some((each) => isOf(each, org, [name]))
    if (!oracle.goes(type.type, org, id, isMeant))
      throw new Violation(`${topic} ${key} is taken out, though its newest version names nobody who is erased`)
    published.append(topic, partitionOf(key, partitions), { topic, key, value: null })
    note(`erasing publishes ${topic} ${key} without a value`)
    return 'moved'
  }

  /** What is gone by now from Kafka, as its compaction leaves it. */
  const compact = ({ named }: Run): void => {
    integrity.dropLost()
    for (const { topic, partition, offset, isSubmitted } of named)
      (isSubmitted ? submitted : published).remove({ topic, partition }, [offset])
    for (const place of published.places()) {
      const entries = published.entries(place.topic, place.partition, 0)
      const last = new Map(entries.flatMap(({ offset, value }) => (value ? [[value.key, offset] as const] : [])))
      const goneKeys = new Set(entries.flatMap(({ value }) => (value?.value === null ? [value.key] : [])))
      for (const { offset, value } of entries) {
        if (!value || !goneKeys.has(value.key)) continue
        // Tombstones go as well, once Kafka has cleaned a second time: those are waited for that were read.
        if (value.value !== null && last.get(value.key) !== offset) published.remove(place, [offset])
      }
    }
    for (const place of new Map(named.filter((one) => one.isSubmitted).map((one) => [placeOf(one), one])).values())
      submitted.append(place.topic, place.partition, null)
    for (const place of submitted.places())
      for (const offset of submitted.holes(place))
        if (!postgres.holes.has(`${placeOf(place)}@${offset}`))
          throw new Violation(`${placeOf(place)}@${offset} is gone from the log, and no hole is noted`)
  }

  /** Where somebody is named. */
  const leftOf = (erasure: Erasure): string[] => [
    ...read([erasure], undefined).map((one) => `${placeOf(one)}@${one.offset}`),
    ...tables.filter((topic) => sink.rows(topic).some((row) => isOf(erasure, row.org_id, namesInRow(row)))),
    ...(postgres.namesPerson(erasure) ? ['Postgres'] : []),
  ]

  const awaitAll = (current: Run): Outcome => {
    current.ends ??= endsOf(submitted)
    if (!isRead(current.ends, integrity.committed)) return 'blocked'
    current.stored ??= endsOf(published)
    if (!isStored(current.stored)) return 'blocked'
    current.ends = undefined
    current.stored = undefined
    return 'done'
  }

  const stages: Record<ErasingStage, (current: Run) => Outcome> = {
    'close the gates': ({ erasures }) => {
      for (const erasure of erasures) {
        postgres.closeGate(erasure)
        oracle.closeGate(erasure.org, erasure.name, now())
      }
      return 'done'
    },
    'await decisions': (current) => {
      current.before ??= postgres.underWay()
      return postgres.hasCommitted(current.before) ? 'done' : 'blocked'
    },
    'await what was decided': awaitAll,
    'end waits': ({ erasures }) => {
      const rows = postgres
        .rows()
        .filter(
          ({ state, orgId, record }) =>
            state === 'waiting' && erasures.some((each) => isOf(each, orgId, namesOf(record))),
        )
      for (const row of rows) row.isDue = true
      return rows.length === 0 || !rules.awaitsEndOfWaits ? 'done' : 'blocked'
    },
    'forget who was seen': ({ erasures }) => {
      for (const erasure of erasures) postgres.forgetSeen(erasure)
      return 'done'
    },
    'read the topics': (current) => {
      current.read = new Map([...endsOf(submitted), ...endsOf(published)])
      current.named = read(current.erasures, undefined)
      return 'done'
    },
    'publish what goes': publishGone,
    'read what came since': (current) => {
      current.named.push(...read(current.erasures, current.read))
      return 'done'
    },
    'note holes': ({ named }) => {
      for (const one of named) if (one.isSubmitted) postgres.holes.add(`${placeOf(one)}@${one.offset}`)
      return 'done'
    },
    'await readers': awaitAll,
    compact: (current) => {
      compact(current)
      return 'done'
    },
    'remove rows': ({ erasures }) => {
      // By now every edge has looked.
      edge.look()
      for (const erasure of erasures) {
        for (const topic of tables) sink.remove(topic, (row) => isOf(erasure, row.org_id, namesInRow(row)))
        for (const batchId of postgres.removePerson(erasure)) witness.saidOtherwise(batchId)
      }
      return 'done'
    },
    'await what was decided since': (current) => {
      if (!rules.awaitsBeforeCheck) return 'done'
      if (awaitAll(current) === 'blocked') return 'blocked'
      integrity.dropLost()
      return 'done'
    },
    'read everything again': ({ erasures }) => {
      for (const erasure of erasures) {
        const left = leftOf(erasure)
        if (left.length > 0) {
          note(`erasing: ${left.join(', ')} still name ${erasure.org}/${erasure.name}`)
          continue
        }
        if (postgres.waitsWith(erasure)) throw new Violation('somebody who was erased is named by a record that waits')
        erasure.isDone = true
        oracle.erased(erasure.org, erasure.name)
        if (erasure.afterwards === 'refuse') continue
        postgres.openGate(erasure)
        oracle.openGate(erasure.org, erasure.name, now())
      }
      return 'done'
    },
  }

  const advance = (): Outcome => {
    if (!run) {
      const erasures = postgres.erasures.filter(({ isDone }) => !isDone)
      if (erasures.length === 0) return 'done'
      run = { erasures, left: [...rules.erasingStages], named: [], types: [...ofPersons] }
      runs++
      note(`erasing begins with ${erasures.map(({ org, name }) => `${org}/${name}`).join(', ')}`)
    }
    const [stage] = run.left
    if (!stage) {
      run = undefined
      return 'moved'
    }
    const outcome = stages[stage](run)
    if (outcome !== 'done') return outcome
    note(`erasing: ${stage}`)
    run.left.shift()
    return 'moved'
  }

  return {
    /** How often it was begun. */
    runs: () => runs,
    leftOf,
    /** `done`: there is nobody to erase; `blocked`: others have to do something first. */
    advance,
    isRunning: () => run !== undefined,
    /** What it does next. */
    stage: () => run?.left[0],
    ask: (org: string, name: string, afterwards: Erasure['afterwards']): void => {
      const running = postgres.erasures.find((each) => each.org === org && each.name === name && !each.isDone)
      note(`${org} has ${name} erased, afterwards: ${afterwards}`)
      if (running) running.afterwards = afterwards
      else postgres.erasures.push({ org, name, afterwards, isDone: false })
    },
    crash: (): void => {
      if (!run) return
      postgres.letGo(run.going?.held ?? [])
      note('erasing crashes')
      if (rules.beginsAnew) run = undefined
      else if (run.going) run.going.held = []
    },
  }
}

export type Erasing = ReturnType<typeof createErasing>

type Outcome = 'done' | 'moved' | 'blocked'

const tables = [...ofPersons.map(({ type }) => acceptedTopic(type)), rejectedTopic]

const namesInBatch = ({ records, refusals }: SubmittedBatch): string[] => [
  ...records.flatMap(namesOf),
  ...refusals.flatMap(({ record }) => namesOf(JSON.parse(record))),
]

const namesInRow = (row: AcceptedEvent | RejectedEvent): string[] =>
  'problems' in row ? namesOf(JSON.parse(String(row.record))) : namesOf(row)

const orgOf = ({ key, value }: Published): string => value?.org_id ?? key.split('/')[0] ?? ''

/** A customer's key is the person's id; a verdict has the ids of customers that were refused. */
const namesInMessage = ({ topic, key, value }: Published): string[] => {
  const ofKey = topic === acceptedTopic('customers') ? [key.split('/')[1] ?? ''] : []
  if (!value) return ofKey
  if (topic !== verdictsTopic) return [...ofKey, ...namesInRow(value as AcceptedEvent | RejectedEvent)]
  const { type, refused } = value as VerdictEvent
  return type === 'customers' ? refused.flatMap(({ id }) => id ?? []) : []
}
