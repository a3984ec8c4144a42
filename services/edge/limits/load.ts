import type { EdgeFigures } from '../figures.js'
import type { Submit } from '../stream/submit.js'
import type { LimitConfig } from './variables.js'

/** What may be in flight at once: bytes of bodies in all and of one organisation, and batches without a verdict. */
export type Bounds = { bytes: number; bytesOfOne: number; batches: number }

/**
 * A body's place among the bytes in flight. It grows as the body comes: were the declared size held from the start, a
 * few clients that declare much and send little would keep out everybody else.
 */
export type Hold = {
  /** Whether there is room for so many bytes in all. */
  growTo: (bytes: number) => boolean
  release: () => void
}

export type Load = {
  /** A place for a body of which so many bytes are expected; undefined where there is too much in flight already. */
  hold: (orgId: string, expected: number) => Hold | undefined
  /** The same submit, with its batches counted until their verdicts are there. */
  counting: (submit: Submit) => Submit
}

type Reason = 'batches' | 'bytes' | 'org_bytes'

export const createLoad = (bounds: Bounds, figures: Pick<EdgeFigures, 'shed' | 'bytesInFlight'>): Load => {
  let bytes = 0
  let batches = 0
  const bytesOf = new Map<string, number>()

  const add = (orgId: string, more: number): void => {
    bytes += more
    const own = (bytesOf.get(orgId) ?? 0) + more
    if (own > 0) bytesOf.set(orgId, own)
    else bytesOf.delete(orgId)
    figures.bytesInFlight.set(bytes)
  }

  const reasonAgainst = (orgId: string, more: number): Reason | undefined => {
    if (bytes + more > bounds.bytes) return 'bytes'
    return (bytesOf.get(orgId) ?? 0) + more > bounds.bytesOfOne ? 'org_bytes' : undefined
  }

  const isShed = (reason: Reason | undefined): boolean => {
    if (reason) figures.shed.inc({ reason })
    return reason !== undefined
  }

  return {
    hold: (orgId, expected) => {
      if (isShed(batches >= bounds.batches ? 'batches' : reasonAgainst(orgId, expected))) return undefined
      let held = 0
      let isReleased = false
      return {
        growTo: (wanted) => {
          if (isReleased || wanted <= held) return true
          if (isShed(reasonAgainst(orgId, wanted - held))) return false
          add(orgId, wanted - held)
          held = wanted
          return true
        },
        release: () => {
          if (isReleased) return
          isReleased = true
          add(orgId, -held)
        },
      }
    },
    counting: (submit) => async (type, given, options) => {
      batches += given.length
      try {
        return await submit(type, given, options)
      } finally {
        batches -= given.length
      }
    },
  }
}

/** Bounds that a full body fits into, whoever sends it. */
export const boundsOf = (config: Omit<LimitConfig, `RATE_${string}`> & { BODY_LIMIT: number }): Bounds => {
  const { MAX_BYTES_IN_FLIGHT: bytes, MAX_BATCHES_IN_FLIGHT: batches, BODY_LIMIT: full } = config
  if (bytes < full) throw new Error('MAX_BYTES_IN_FLIGHT must be at least BODY_LIMIT, or no full body would be taken')
  // One organisation's many or slow uploads leave room for others.
  return { bytes, bytesOfOne: Math.max(full, Math.floor(bytes / 2)), batches }
}
