import type { ConfigSchema, ValuesOf } from '#platform/process/config.js'
import { recordsIn } from '#schemas/events.js'
import type { Submit } from '../batches/outcome.js'
import type { EdgeFigures } from '../figures.js'
import { createTurns } from './turns.js'

/** How much may be in flight at once. */
export const loadVariables = {
  MAX_BYTES_IN_FLIGHT: {
    type: 'integer',
    minimum: 1024,
    // Measured: with the half that one organisation may hold in full use, the edge peaked at 306 MiB of memory.
    default: 67_108_864,
    description: 'most bytes of bodies, after decompression, that are in flight at once; at least BODY_LIMIT',
  },
  MAX_BATCHES_IN_FLIGHT: {
    type: 'integer',
    minimum: 1,
    default: 1000,
    description:
      'batches without a verdict from which on no more bodies are taken in; three quarters for one organisation',
  },
} as const satisfies ConfigSchema['properties']

export type Bounds = {
  /** Most bytes of bodies, in all and of one organisation. */
  bytes: number
  bytesOfOne: number
  /** Most batches without a verdict. */
  batches: number
  /** Records of one organisation without a verdict from which on its large bodies wait. */
  recordsOfOne: number
}

/** Bounds that always leave room for a body as large as BODY_LIMIT. */
export const boundsOf = (config: ValuesOf<typeof loadVariables> & { BODY_LIMIT: number }): Bounds => {
  const { MAX_BYTES_IN_FLIGHT: bytes, MAX_BATCHES_IN_FLIGHT: batches, BODY_LIMIT: full } = config
  if (bytes < full) throw new Error('MAX_BYTES_IN_FLIGHT must be at least BODY_LIMIT, or no full body would be taken')
  // Half of it for one organisation, so that its many or slow uploads leave room for others.
  return { bytes, bytesOfOne: Math.max(full, Math.floor(bytes / 2)), batches, recordsOfOne: aSecondOfWork }
}

// What integrity decides in about a second. Records of one organisation that wait are in front of everybody else's; more of
// them at once would make nothing faster, and everybody's answers slower.
const aSecondOfWork = 20_000
// How long a large body waits for its turn: as long as a client that is turned away is asked to wait.
const turnWithin = 5_000

/**
 * A body's share of the bytes in flight. It grows as the body arrives: if the declared size counted from the start, a few
 * clients that declare much and send little would keep out everybody else.
 */
export type Hold = {
  /** Makes the share this large, if there is room for it; whether there is. */
  growTo: (bytes: number) => boolean
  /** Reads a large body when its organisation's turn comes; undefined where it did not come in time. */
  inTurn: <T>(read: () => Promise<T>) => Promise<T | undefined>
  release: () => void
}

export type Load = {
  /** A share for a body of about `expected` bytes, empty at first; undefined where too much is in flight already. */
  hold: (orgId: string, expected: number) => Hold | undefined
  /** The same submit, with its batches counted until their verdicts are there. */
  counting: (submit: Submit) => Submit
}

type Reason = 'batches' | 'org_batches' | 'org_records' | 'bytes' | 'org_bytes'

export const createLoad = (bounds: Bounds, figures: Pick<EdgeFigures, 'shed' | 'bytesInFlight'>): Load => {
  let bytes = 0
  let batches = 0
  const bytesOf = createTally()
  const batchesOf = createTally()
  const recordsOf = createTally()

  const addBytes = (orgId: string, more: number): void => {
    bytes += more
    bytesOf.add(orgId, more)
    figures.bytesInFlight.set(bytes)
  }

  const addBatches = (orgId: string, more: number, records: number): void => {
    batches += more
    batchesOf.add(orgId, more)
    recordsOf.add(orgId, records)
  }

  const bytesAgainst = (orgId: string, more: number): Reason | undefined => {
    if (bytes + more > bounds.bytes) return 'bytes'
    return bytesOf.get(orgId) + more > bounds.bytesOfOne ? 'org_bytes' : undefined
  }

  // An organisation may have three times as many batches in flight as are still free. So one alone gets three quarters of
  // them, several share them, and there is always room for another.
  const batchesAgainst = (orgId: string): Reason | undefined => {
    const free = bounds.batches - batches
    if (free <= 0) return 'batches'
    return batchesOf.get(orgId) >= 3 * free ? 'org_batches' : undefined
  }

  const turnAgainst = (orgId: string): Reason | undefined =>
    batchesAgainst(orgId) ?? (recordsOf.get(orgId) >= bounds.recordsOfOne ? 'org_records' : undefined)
  const turns = createTurns((orgId) => turnAgainst(orgId) === undefined, turnWithin)

  const isShed = (reason: Reason | undefined): boolean => {
    if (reason) figures.shed.inc({ reason })
    return reason !== undefined
  }

  return {
    hold: (orgId, expected) => {
      if (isShed(batchesAgainst(orgId) ?? bytesAgainst(orgId, expected))) return undefined
      let held = 0
      let isReleased = false
      return {
        growTo: (wanted) => {
          if (isReleased || wanted <= held) return true
          if (isShed(bytesAgainst(orgId, wanted - held))) return false
          addBytes(orgId, wanted - held)
          held = wanted
          return true
        },
        inTurn: async (read) => {
          const done = await turns.take(orgId, read)
          if (done === undefined) isShed(turnAgainst(orgId) ?? 'org_records')
          return done
        },
        release: () => {
          if (isReleased) return
          isReleased = true
          addBytes(orgId, -held)
        },
      }
    },
    counting: (submit) => async (type, given, options) => {
      const orgId = given[0]?.org_id ?? ''
      const records = given.reduce((sum, batch) => sum + recordsIn(batch), 0)
      addBatches(orgId, given.length, records)
      try {
        return await submit(type, given, options)
      } finally {
        addBatches(orgId, -given.length, -records)
        turns.wake()
      }
    },
  }
}

/** A number for each organisation; one that has none is forgotten. */
const createTally = () => {
  const counts = new Map<string, number>()
  const get = (orgId: string): number => counts.get(orgId) ?? 0
  return {
    get,
    add: (orgId: string, more: number): void => {
      const sum = get(orgId) + more
      if (sum > 0) counts.set(orgId, sum)
      else counts.delete(orgId)
    },
  }
}
