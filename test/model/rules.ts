import { freshOnes, isPassedOver, refuseHole } from '#ledger/fence.js'
import { laneOf } from '#platform/kafka/partitions.js'
import type { AcceptedEvent } from '#schemas/events.js'
import type { Command } from './history.js'

/** What integrity does with a fetch, in this order. A crash may come between any two stages, and within 'publish'. */
export type Stage = 'begin' | 'commit' | 'remember' | 'publish' | 'commit offset'

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
}

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
}

const shopOf = (id: number) => ({ id, refers: 0, isDeleted: false, isInvalid: false, key: undefined })
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
  'steps over a hole in the log': { broken: { refuseHole: () => {} }, shows: /were stepped over/ },
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
    shows: /^the verdict on resume.* it should be/,
  },
  'releases what waited before that is committed which it waited for': {
    broken: { releasesBeforeCommit: true },
    shows: /^the verdict on .* it should be/,
  },
  'does not look whether something came while a record began to wait for it': {
    broken: { checksNew: false },
    shows: /waits, though what it waits for is there/,
    example: atOnce,
  },
  'lets the last insert win in ClickHouse': { broken: { replaces: () => true }, shows: /^the view of/ },
  'commits what the sink has not inserted': {
    broken: { sinkCommitsFirst: true },
    shows: /^the view of|^shown rejections/,
  },
}

/** The model has seen something that must never happen. */
export class Violation extends Error {}
