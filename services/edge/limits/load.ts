import { type ConfigSchema, integer, type ValuesOf } from '#platform/process/config.js'
import { createTally } from '#platform/process/tally.js'
import { createTurns } from '#platform/process/turns.js'
import { type BatchParts, recordsIn } from '#schemas/events.js'
import type { EdgeFigures } from '../figures.js'
import { chunkBytes } from '../imports/chunks.js'

/** How much may be in flight at once. */
export const loadVariables = {
  // Measured: with the half that one organisation may hold in full use, the edge peaked at 306 MiB of memory.
  MAX_BYTES_IN_FLIGHT: integer(
    { minimum: 1024, default: 67_108_864 },
    'most bytes of bodies, after decompression, that are in flight at once; at least BODY_LIMIT. Half of them for one organisation, but never less than BODY_LIMIT',
  ),
  // Measured: integrity decides about 20 000 a second on one core.
  MAX_RECORDS_IN_FLIGHT: integer(
    { minimum: 1, default: 100_000 },
    'records without a verdict from which on large bodies wait for their turn; a fifth of them for one organisation. A body is large above 16 KiB',
  ),
  MAX_BATCHES_IN_FLIGHT: integer(
    { minimum: 1, default: 1000 },
    'batches without a verdict from which on no more bodies are taken in; three quarters for one organisation. Less when others send too',
  ),
} as const satisfies ConfigSchema['properties']

export type Bounds = {
  /** Most bytes of bodies, in all and of one organisation. */
  bytes: number
  bytesOfOne: number
  /** Most bytes of imports, likewise: a slow one holds its share for minutes. */
  importBytes: number
  importBytesOfOne: number
  /** Most batches without a verdict. */
  batches: number
  /** Records without a verdict from which on large bodies wait, in all and of one organisation. */
  records: number
  recordsOfOne: number
}

// One is read while another is decided.
const twoChunks = 2 * chunkBytes

/** Bounds that always leave room for a body as large as BODY_LIMIT. */
export const boundsOf = (config: ValuesOf<typeof loadVariables> & { BODY_LIMIT: number }): Bounds => {
  const { MAX_BYTES_IN_FLIGHT: bytes, MAX_BATCHES_IN_FLIGHT: batches, BODY_LIMIT: full } = config
  const records = config.MAX_RECORDS_IN_FLIGHT
  if (bytes < full) throw new Error('MAX_BYTES_IN_FLIGHT must be at least BODY_LIMIT, or no full body would be taken')
  return {
    bytes,
    // Half of it for one organisation, so that its many or slow uploads leave room for others.
    bytesOfOne: Math.max(full, Math.floor(bytes / 2)),
    // However many imports there are, and however slow, there is room for the uploads of others.
    importBytes: Math.min(bytes, Math.max(twoChunks, Math.floor(bytes / 2))),
    importBytesOfOne: Math.min(bytes, Math.max(twoChunks, Math.floor(bytes / 8))),
    batches,
    records,
    // About a second of integrity's work. Records of one organisation that wait are in front of everybody else's; more of them
    // at once would make nothing faster, and everybody's answers slower.
    recordsOfOne: Math.ceil(records / 5),
  }
}

// How long a large body waits for its turn: as long as a client that is turned away is asked to wait.
const turnWithin = 5_000

/** A body's share of the bytes in flight. It grows with the body: by declared sizes a few clients would keep out everybody. */
export type Hold = {
  /** Makes the share this large, if there is room for it; whether there is. */
  growTo: (bytes: number) => boolean
  shrinkTo: (bytes: number) => void
  /** Reads a large body when its organisation's turn comes; undefined where it did not come in time. */
  inTurn: <T>(read: () => Promise<T>) => Promise<T | undefined>
  release: () => void
}

export type Load = ReturnType<typeof createLoad>

/** A body is held as a whole, an import part by part. */
type BodyKind = 'body' | 'import'

type Reason = 'batches' | 'org_batches' | 'records' | 'org_records' | 'bytes' | 'org_bytes'

export const createLoad = (bounds: Bounds, figures: Pick<EdgeFigures, 'shed' | 'bytesInFlight'>) => {
  const bytes = createTally()
  const importBytes = createTally()
  const batches = createTally()
  const records = createTally()

  const addBytes = (orgId: string, more: number, kind: BodyKind): void => {
    bytes.add(orgId, more)
    if (kind === 'import') importBytes.add(orgId, more)
    figures.bytesInFlight.set(bytes.all())
  }

  const addBatches = (orgId: string, more: number, moreRecords: number): void => {
    batches.add(orgId, more)
    records.add(orgId, moreRecords)
  }

  const bytesAgainst = (orgId: string, more: number, kind: BodyKind): Reason | undefined => {
    if (bytes.all() + more > bounds.bytes) return 'bytes'
    if (bytes.of(orgId) + more > bounds.bytesOfOne) return 'org_bytes'
    if (kind === 'body') return undefined
    if (importBytes.all() + more > bounds.importBytes) return 'bytes'
    return importBytes.of(orgId) + more > bounds.importBytesOfOne ? 'org_bytes' : undefined
  }

  // An organisation may have three times as many batches in flight as are still free. So one alone gets three quarters of
  // them, several share them, and there is always room for another.
  const batchesAgainst = (orgId: string): Reason | undefined => {
    const free = bounds.batches - batches.all()
    if (free <= 0) return 'batches'
    return batches.of(orgId) >= 3 * free ? 'org_batches' : undefined
  }

  const recordsAgainst = (orgId: string): Reason | undefined => {
    if (records.of(orgId) >= bounds.recordsOfOne) return 'org_records'
    return records.all() >= bounds.records ? 'records' : undefined
  }

  const turnAgainst = (orgId: string): Reason | undefined => batchesAgainst(orgId) ?? recordsAgainst(orgId)
  const turns = createTurns((orgId) => turnAgainst(orgId) === undefined, turnWithin)

  const isShed = (reason: Reason | undefined): boolean => {
    if (reason) figures.shed.inc({ reason })
    return reason !== undefined
  }

  return {
    /** Whether a share would be given now; for those who wait until there is one. */
    hasRoom: (orgId: string, expected: number, kind: BodyKind): boolean =>
      (batchesAgainst(orgId) ?? bytesAgainst(orgId, expected, kind)) === undefined,
    /** A share for a body of about `expected` bytes, empty at first; undefined where too much is in flight already. */
    hold: (orgId: string, expected: number, kind: BodyKind = 'body'): Hold | undefined => {
      if (isShed(batchesAgainst(orgId) ?? bytesAgainst(orgId, expected, kind))) return undefined
      let held = 0
      let isReleased = false
      return {
        growTo: (wanted) => {
          if (isReleased || wanted <= held) return true
          if (isShed(bytesAgainst(orgId, wanted - held, kind))) return false
          addBytes(orgId, wanted - held, kind)
          held = wanted
          return true
        },
        shrinkTo: (wanted) => {
          if (isReleased || wanted >= held) return
          addBytes(orgId, wanted - held, kind)
          held = wanted
        },
        inTurn: async (read) => {
          const done = await turns.take(orgId, read)
          if (done === undefined) isShed(turnAgainst(orgId) ?? 'org_records')
          return done
        },
        release: () => {
          if (isReleased) return
          isReleased = true
          addBytes(orgId, -held, kind)
        },
      }
    },
    /** Counts a batch until the function that it returns is first called: when it is decided, or is not expected to be soon. */
    count: (batch: BatchParts & { org_id: string }): (() => void) => {
      const { org_id: orgId } = batch
      const held = recordsIn(batch)
      addBatches(orgId, 1, held)
      let isCounted = true
      return () => {
        if (!isCounted) return
        isCounted = false
        addBatches(orgId, -1, -held)
        turns.wake()
      }
    },
  }
}
