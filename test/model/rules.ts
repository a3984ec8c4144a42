import { freshOnes, isPassedOver, refuseHole } from '#ledger/fence.js'
import { laneOf } from '#platform/kafka/partitions.js'
import type { AcceptedEvent } from '#schemas/events.js'
import type { Drawn } from './edge.js'
import type { Command } from './history.js'

/** What integrity does with a fetch, in this order. A crash may come between any two stages, and within 'publish'. */
export type Stage = 'begin' | 'commit' | 'remember' | 'publish' | 'commit offset'

/** What erasing does, in this order, with the same of crashes. */
export type ErasingStage =
  | 'close the gates'
  | 'await decisions'
  | 'await what was decided'
  | 'end waits'
  | 'forget who was seen'
  | 'read the topics'
  | 'publish what goes'
  | 'read what came since'
  | 'note holes'
  | 'await readers'
  | 'compact'
  | 'remove rows'
  | 'await what was decided since'
  | 'read everything again'

/** The rules that keep the system right. Each can be broken, to see whether the model notices. */
export type Rules = {
  stages: readonly Stage[]
  refuseHole: typeof refuseHole
  freshOnes: typeof freshOnes
  isPassedOver: typeof isPassedOver
  /** Whether nothing is pruned from where the log is being read again. */
  sparesReplayed: boolean
  /** `body` numbers the request. */
  laneOf: (id: string | null, lanes: number, body: number) => number
  locksCursor: boolean
  /** Whether a request with several lanes belongs to the body whose transaction comes first. */
  claimsBodies: boolean
  overwritesVerdicts: boolean
  /** Whether a newer record of an id ends the waiting of an older one. */
  supersedes: boolean
  /** Whether what waited comes to its lane again to be decided, and is not accepted beside it. */
  releasesInLane: boolean
  /** Whether what is waited for counts as there before it is committed. */
  releasesBeforeCommit: boolean
  /** Whether new rows are looked at once what was under way beside them has ended. */
  checksNew: boolean
  /** A version in place of the real one. */
  versionOf: (event: AcceptedEvent, published: number) => number
  replaces: (inserted: { version: number }, there: { version: number }) => boolean
  sinkCommitsFirst: boolean
  /** Whether it is asked in the transaction of a decision whom an organisation has had erased. */
  asksGateInside: boolean
  erasingStages: readonly ErasingStage[]
  /** Whether the lanes of a type stand still while messages without a value are published. */
  holdsLanes: boolean
  /** Whether erasing goes on only when nothing of the person waits any more. */
  awaitsEndOfWaits: boolean
  /** Whether everything is read again only when what was decided meanwhile is published and stored. */
  awaitsBeforeCheck: boolean
  /** Whether erasing is begun anew after a crash. */
  beginsAnew: boolean
}

const erasingStages: readonly ErasingStage[] = [
  'close the gates',
  'await decisions',
  'await what was decided',
  'end waits',
  'forget who was seen',
  'read the topics',
  'publish what goes',
  'read what came since',
  'note holes',
  'await readers',
  'compact',
  'remove rows',
  'await what was decided since',
  'read everything again',
]
const without = (...stages: ErasingStage[]): ErasingStage[] => erasingStages.filter((each) => !stages.includes(each))
const behind = (stage: ErasingStage, other: ErasingStage): ErasingStage[] =>
  without(stage).flatMap((each) => (each === other ? [other, stage] : [each]))

export const rules: Rules = {
  stages: ['begin', 'commit', 'remember', 'publish', 'commit offset'],
  refuseHole,
  freshOnes,
  isPassedOver,
  sparesReplayed: true,
  laneOf,
  locksCursor: true,
  claimsBodies: true,
  overwritesVerdicts: false,
  supersedes: true,
  releasesInLane: true,
  releasesBeforeCommit: false,
  checksNew: true,
  versionOf: (event) => event.version,
  // ReplacingMergeTree: the highest version stays, of equal ones the last.
  replaces: (inserted, there) => inserted.version >= there.version,
  sinkCommitsFirst: false,
  asksGateInside: true,
  erasingStages,
  holdsLanes: true,
  awaitsEndOfWaits: true,
  awaitsBeforeCheck: true,
  beginsAnew: true,
}

const shopOf = (id: number): Drawn => ({
  id,
  refers: 0,
  isDeleted: false,
  isInvalid: false,
  key: undefined,
  person: undefined,
})
const step = { do: 'step' as const, choice: 0, notices: false, twice: false }

/** Drawn too seldom: two bodies under one key, of ids in two lanes, and both are read before either is committed. */
const twoBodies: Command[] = [
  { do: 'submit', org: 'acme', type: 'shops', key: 0, wait: undefined, records: [shopOf(0)] },
  { do: 'submit', org: 'acme', type: 'shops', key: 0, wait: undefined, records: [shopOf(1), shopOf(1)] },
  { do: 'fetch', pick: 0, most: 4 },
  { do: 'fetch', pick: 0, most: 4 },
  { ...step, pick: 0 },
  { ...step, pick: 1 },
]

/** Drawn too seldom: a branch that waits for a shop, and both are read before either is committed. */
const atOnce: Command[] = [
  { do: 'submit', org: 'acme', type: 'shops', key: undefined, wait: undefined, records: [shopOf(0)] },
  { do: 'submit', org: 'acme', type: 'branches', key: undefined, wait: 1000, records: [shopOf(0)] },
  { do: 'fetch', pick: 0, most: 4 },
  { do: 'fetch', pick: 0, most: 4 },
  { ...step, pick: 0 },
  { ...step, pick: 1 },
]

const upload = { do: 'submit' as const, org: 'acme', key: undefined, wait: undefined }
const handle = { do: 'handle a fetch' as const, pick: 0, most: 4, steps: 20 }
const withShop: Command[] = [{ ...upload, type: 'shops', records: [shopOf(0)] }, handle]
const lose: Command = { do: 'lose offsets' }

/** Drawn too seldom: of two versions of a branch the newer one's verdict is pruned, the older one's kept, since something waits. */
const keptForLonger: Command[] = [
  ...withShop,
  { ...upload, type: 'branches', wait: 1000, records: [shopOf(0), { ...shopOf(1), refers: 1 }] },
  handle,
  { ...upload, type: 'branches', records: [shopOf(0)] },
  handle,
  { do: 'prune', age: 0, isLate: false },
  lose,
]

/** Drawn too seldom: between two versions of a branch, as they are published again, the newer one's verdict is pruned. */
const prunedMeanwhile: Command[] = [
  ...withShop,
  { ...upload, type: 'branches', records: [shopOf(0)] },
  handle,
  { ...upload, type: 'branches', records: [shopOf(0)] },
  handle,
  { do: 'prune', age: 1000, isLate: false },
  lose,
  handle,
  { ...handle, most: 1 },
  { do: 'prune', age: 0, isLate: true },
]

/** Drawn seldom: a message of the log that is passed over, a shop that comes while something waits for it, sinks that are slow or crash. */
const jumped: Command[] = [
  ...withShop,
  { ...upload, type: 'shops', records: [shopOf(0)] },
  { ...upload, type: 'shops', records: [shopOf(0)] },
  { do: 'jump', pick: 0, to: 1 },
  handle,
]
const cameJustNow: Command[] = [
  { ...upload, type: 'branches', wait: 1000, records: [shopOf(0)] },
  handle,
  { ...upload, type: 'shops', records: [shopOf(0)] },
  { do: 'fetch', pick: 0, most: 4 },
  { ...step, pick: 0 },
  { do: 'relay sends', forgets: false },
  handle,
]
const slowSink: Command[] = [
  ...withShop,
  { ...upload, type: 'shops', records: [shopOf(0)] },
  handle,
  { do: 'sink fetch', pick: 0, most: 1 },
  { do: 'sink rebalance' },
  { do: 'sink fetch', pick: 0, most: 4 },
  { do: 'sink step', pick: 1 },
  { do: 'sink step', pick: 1 },
  { do: 'sink step', pick: 0 },
]
const crashedSink: Command[] = [
  ...withShop,
  { do: 'sink fetch', pick: 0, most: 4 },
  { do: 'sink step', pick: 0 },
  { do: 'sink crash' },
]

const person = { ...shopOf(1), person: 1 }
const nobody = shopOf(1)
const customers: Command = { ...upload, type: 'customers', records: [person] }
const sends = (records: Drawn[], wait?: number): Command => ({
  ...upload,
  wait,
  type: 'transactions',
  records,
})
const erase: Command = { do: 'erase', org: 'acme', person: 1, afterwards: 'refuse' }
const goOn = (steps: number, isHelped = true): Command => ({ do: 'erasing goes on', steps, isHelped })
const goOnUntil = (until: ErasingStage): Command => ({ do: 'erasing goes on', steps: 100, isHelped: true, until })
const withTransaction: Command[] = [...withShop, sends([person]), handle, erase]

/** All of these are drawn too seldom: something comes between two stages of an erasure. */
const cameBeforeTheGate: Command[] = [customers, handle, erase, goOnUntil('close the gates'), customers, handle]
const fetchedBefore: Command[] = [
  customers,
  { do: 'fetch', pick: 0, most: 4 },
  erase,
  goOn(1, false),
  ...Array.from({ length: 5 }, () => ({ ...step, pick: 0 })),
]
const correctedMeanwhile: Command[] = [
  ...withTransaction,
  goOnUntil('publish what goes'),
  // Interactions and customers, of which there are none, and then it knows which transactions are going to go.
  goOn(3),
  sends([nobody]),
  handle,
  goOn(1),
]
const correctedAfterCrash: Command[] = [
  ...correctedMeanwhile.slice(0, -3),
  { do: 'erasing crash' },
  ...correctedMeanwhile.slice(-3),
]
const waitsOn: Command[] = [
  sends([person], 1_000),
  handle,
  erase,
  goOnUntil('await what was decided since'),
  handle,
  goOn(3, false),
]
const beginsToWait: Command[] = [
  sends([person], 1_000),
  { do: 'fetch', pick: 0, most: 4 },
  { ...step, pick: 0 },
  erase,
  goOn(2, false),
  ...Array.from({ length: 5 }, () => ({ ...step, pick: 0 })),
  goOn(100),
]
const replayedMeanwhile: Command[] = [
  customers,
  handle,
  erase,
  goOnUntil('compact'),
  lose,
  { do: 'fetch', pick: 0, most: 4 },
  goOn(4, false),
]

/** Drawn too seldom, and right only since: the lane comes twice to a record that waited, and in between its person's gate is closed. */
export const resumedTwice: Command[] = [
  sends([person], 1_000),
  handle,
  { ...upload, type: 'shops', records: [shopOf(0)] },
  handle,
  { do: 'relay sends', forgets: true },
  { do: 'relay crash' },
  { do: 'relay sends', forgets: true },
  { ...handle, most: 1 },
  erase,
  goOn(1, false),
  handle,
]

type BrokenRule = { broken: Partial<Rules>; shows: RegExp; lanes?: number; example?: Command[] }

/** Ways to build the system wrong, and what the model must then report for some history. */
export const brokenRules: Record<string, BrokenRule> = {
  'decides anew what lies below the cursor': {
    broken: { freshOnes: (all) => [...all], overwritesVerdicts: true },
    shows: /is published in two ways|in the order of the log/,
  },
  'does not ask whether a batch has a verdict': {
    broken: { freshOnes: (all, cursor) => all.filter(({ offset }) => offset >= cursor), overwritesVerdicts: true },
    shows: /is published in two ways|in the order of the log/,
  },
  'publishes again what is older than what was pruned': {
    broken: {
      isPassedOver: (at, one, verdicts, cursor, losses) =>
        isPassedOver(at, one, verdicts, cursor && { ...cursor, prunedUntil: 0 }, losses),
    },
    shows: /^the last event of/,
    example: keptForLonger,
  },
  'prunes what is being published again': {
    broken: { sparesReplayed: false },
    shows: /^the last event of/,
    example: prunedMeanwhile,
  },
  'steps over a hole in the log': { broken: { refuseHole: () => {} }, shows: /were stepped over/, example: jumped },
  'decides without a lock on the cursor': {
    broken: { locksCursor: false, overwritesVerdicts: true },
    shows: /is published in two ways/,
  },
  'lets the writes of one id go to different lanes': {
    broken: { laneOf: (_, lanes, body) => body % lanes },
    shows: /is published in two ways|in the order of the log|^the view of|^records that waited/,
    lanes: 2,
  },
  'decides two bodies of one request at the same time': {
    broken: { claimsBodies: false },
    shows: /^the verdict on .* it should be|in the order of the log/,
    lanes: 2,
    example: twoBodies,
  },
  'publishes before it commits': {
    broken: { stages: ['begin', 'publish', 'commit', 'remember', 'commit offset'] },
    shows: /published before it was decided/,
  },
  'commits offsets before it publishes': {
    broken: { stages: ['begin', 'commit', 'remember', 'commit offset', 'publish'] },
    shows: /^published verdicts|in the order of the log|^published rejections/,
  },
  'remembers entities before they are committed': {
    broken: { stages: ['begin', 'remember', 'commit', 'publish', 'commit offset'] },
    shows: /^the verdict on .* it should be/,
  },
  'counts versions as it publishes': {
    broken: { versionOf: (_, published) => published },
    shows: /in the order of the log/,
  },
  'takes the moment of the decision as version': {
    broken: { versionOf: (event) => event.accepted_at },
    shows: /is published in two ways/,
  },
  'accepts what waited beside its lane': {
    broken: { releasesInLane: false },
    shows: /is published, but was not accepted/,
  },
  'forgets that a newer record takes the place of one that waits': {
    broken: { supersedes: false },
    shows: /^the verdict on resume.* it should be|^records that waited/,
  },
  'releases what waited before that is committed which it waited for': {
    broken: { releasesBeforeCommit: true },
    shows: /^the verdict on .* it should be/,
    example: cameJustNow,
  },
  'does not look whether something came while a record began to wait for it': {
    broken: { checksNew: false },
    shows: /waits, though what it waits for is there/,
    example: atOnce,
  },
  'lets the last insert win in ClickHouse': {
    broken: { replaces: () => true },
    shows: /^the view of/,
    example: slowSink,
  },
  'commits what the sink has not inserted': {
    broken: { sinkCommitsFirst: true },
    shows: /^the view of|^shown rejections/,
    example: crashedSink,
  },
  'closes the gate of who is erased only at the end': {
    broken: { erasingStages: behind('close the gates', 'read everything again') },
    shows: /^somebody who was erased/,
    example: cameBeforeTheGate,
  },
  'asks before its transaction who was erased': {
    broken: { asksGateInside: false },
    shows: /^the verdict on .* it should be/,
    example: fetchedBefore,
  },
  'takes records out while their lanes go on': {
    broken: { holdsLanes: false },
    shows: /is taken out, though/,
    example: correctedMeanwhile,
  },
  'notes holes when the messages are gone': {
    broken: { erasingStages: behind('note holes', 'compact') },
    shows: /and no hole is noted/,
  },
  'does not read what came while messages without a value were published': {
    broken: { erasingStages: without('read what came since') },
    shows: /^an erasure that nothing disturbs/,
    example: [{ ...upload, type: 'customers', records: [shopOf(0)] }, handle],
  },
  'goes on with an erasure where it crashed': {
    broken: { beginsAnew: false },
    shows: /is taken out, though/,
    example: correctedAfterCrash,
  },
  'ends the waits of who is erased before the decisions that may add to them': {
    broken: { erasingStages: behind('end waits', 'close the gates') },
    shows: /^somebody who was erased/,
    example: beginsToWait,
  },
  'does not wait until nothing of who is erased waits': {
    broken: { awaitsEndOfWaits: false },
    shows: /^somebody who was erased/,
    example: waitsOn,
  },
  'reads everything again while something is not yet published': {
    broken: { awaitsBeforeCheck: false },
    shows: /^somebody who was erased|^the view of/,
    example: replayedMeanwhile,
  },
}

/** The model has seen something that must never happen. */
export class Violation extends Error {}
