import { freshOnes, refuseHole } from '#ledger/fence.js'
import type { AcceptedEvent } from '#schemas/events.js'

/** What integrity does with a fetch, one after another; a crash may come between any two, and within the telling. */
export type Stage = 'begin' | 'commit' | 'remember' | 'tell' | 'commit offset'

/** What holds the system together, each a thing that can be taken away to see whether the model notices. */
export type Rules = {
  stages: readonly Stage[]
  refuseHole: typeof refuseHole
  freshOnes: typeof freshOnes
  locksCursor: boolean
  overwritesVerdicts: boolean
  /** A version in place of the real one. */
  versionOf: (event: AcceptedEvent, told: number) => number
  replaces: (inserted: { version: number }, there: { version: number }) => boolean
  sinkCommitsFirst: boolean
}

export const rules: Rules = {
  stages: ['begin', 'commit', 'remember', 'tell', 'commit offset'],
  refuseHole,
  freshOnes,
  locksCursor: true,
  overwritesVerdicts: false,
  versionOf: (event) => event.version,
  // ReplacingMergeTree: the highest version stays, of equal ones the last.
  replaces: (inserted, there) => inserted.version >= there.version,
  sinkCommitsFirst: false,
}

/** Ways to build it wrong, and what some history must then show. */
export const brokenRules: Record<string, { broken: Partial<Rules>; shows: RegExp }> = {
  'decides anew what lies below the cursor': {
    broken: { freshOnes: (all) => [...all], overwritesVerdicts: true },
    shows: /is told in two ways|in the order of the log/,
  },
  'does not ask whether a batch has a verdict': {
    broken: { freshOnes: (all, cursor) => all.filter(({ offset }) => offset >= cursor), overwritesVerdicts: true },
    shows: /is told in two ways|in the order of the log/,
  },
  'steps over a hole in the log': { broken: { refuseHole: () => {} }, shows: /were stepped over/ },
  'decides without a lock on the cursor': {
    broken: { locksCursor: false, overwritesVerdicts: true },
    shows: /is told in two ways/,
  },
  'tells before it commits': {
    broken: { stages: ['begin', 'tell', 'commit', 'remember', 'commit offset'] },
    shows: /told before it was decided/,
  },
  'commits offsets before it tells': {
    broken: { stages: ['begin', 'commit', 'remember', 'commit offset', 'tell'] },
    shows: /^told verdicts|in the order of the log|^told rejections/,
  },
  'remembers entities before they are committed': {
    broken: { stages: ['begin', 'remember', 'commit', 'tell', 'commit offset'] },
    shows: /^the verdict on .* it should be/,
  },
  'counts versions as it tells': { broken: { versionOf: (_, told) => told }, shows: /in the order of the log/ },
  'takes the moment of the decision as version': {
    broken: { versionOf: (event) => event.accepted_at },
    shows: /is told in two ways/,
  },
  'lets the last insert win in ClickHouse': { broken: { replaces: () => true }, shows: /^the view of/ },
  'commits what the sink has not inserted': {
    broken: { sinkCommitsFirst: true },
    shows: /^the view of|^shown rejections/,
  },
}

/** Something that must never be was seen. */
export class Violation extends Error {}
