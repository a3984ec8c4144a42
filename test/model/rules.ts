import { freshOnes, refuseHole } from '#ledger/fence.js'
import type { AcceptedEvent } from '#schemas/events.js'

/** What integrity does with a fetch, in this order. A crash may come between any two stages, and within 'publish'. */
export type Stage = 'begin' | 'commit' | 'remember' | 'publish' | 'commit offset'

/** The rules that keep the system right. Each can be broken, to see whether the model notices. */
export type Rules = {
  stages: readonly Stage[]
  refuseHole: typeof refuseHole
  freshOnes: typeof freshOnes
  locksCursor: boolean
  overwritesVerdicts: boolean
  /** A version in place of the real one. */
  versionOf: (event: AcceptedEvent, published: number) => number
  replaces: (inserted: { version: number }, there: { version: number }) => boolean
  sinkCommitsFirst: boolean
}

export const rules: Rules = {
  stages: ['begin', 'commit', 'remember', 'publish', 'commit offset'],
  refuseHole,
  freshOnes,
  locksCursor: true,
  overwritesVerdicts: false,
  versionOf: (event) => event.version,
  // ReplacingMergeTree: the highest version stays, of equal ones the last.
  replaces: (inserted, there) => inserted.version >= there.version,
  sinkCommitsFirst: false,
}

/** Ways to build the system wrong, and what the model must then report for some history. */
export const brokenRules: Record<string, { broken: Partial<Rules>; shows: RegExp }> = {
  'decides anew what lies below the cursor': {
    broken: { freshOnes: (all) => [...all], overwritesVerdicts: true },
    shows: /is published in two ways|in the order of the log/,
  },
  'does not ask whether a batch has a verdict': {
    broken: { freshOnes: (all, cursor) => all.filter(({ offset }) => offset >= cursor), overwritesVerdicts: true },
    shows: /is published in two ways|in the order of the log/,
  },
  'steps over a hole in the log': { broken: { refuseHole: () => {} }, shows: /were stepped over/ },
  'decides without a lock on the cursor': {
    broken: { locksCursor: false, overwritesVerdicts: true },
    shows: /is published in two ways/,
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
  'lets the last insert win in ClickHouse': { broken: { replaces: () => true }, shows: /^the view of/ },
  'commits what the sink has not inserted': {
    broken: { sinkCommitsFirst: true },
    shows: /^the view of|^shown rejections/,
  },
}

/** The model has seen something that must never happen. */
export class Violation extends Error {}
