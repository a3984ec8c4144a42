import type { ConfigSchema, ValuesOf } from '#platform/process/config.js'
import type { Submit } from '../batches/outcome.js'
import type { EdgeFigures } from '../figures.js'

/** How much may be in flight at once. */
export const loadVariables = {
  MAX_BYTES_IN_FLIGHT: {
    type: 'integer',
    minimum: 1024,
    default: 134_217_728,
    description: 'most bytes of bodies, after decompression, that are in flight at once; at least BODY_LIMIT',
  },
  MAX_BATCHES_IN_FLIGHT: {
    type: 'integer',
    minimum: 1,
    default: 1000,
    description: 'batches without a verdict from which on no more bodies are taken in',
  },
} as const satisfies ConfigSchema['properties']

/** Most bytes of bodies, in all and of one organisation, and most batches without a verdict. */
export type Bounds = { bytes: number; bytesOfOne: number; batches: number }

/** Bounds that always leave room for a body as large as BODY_LIMIT. */
export const boundsOf = (config: ValuesOf<typeof loadVariables> & { BODY_LIMIT: number }): Bounds => {
  const { MAX_BYTES_IN_FLIGHT: bytes, MAX_BATCHES_IN_FLIGHT: batches, BODY_LIMIT: full } = config
  if (bytes < full) throw new Error('MAX_BYTES_IN_FLIGHT must be at least BODY_LIMIT, or no full body would be taken')
  // Half of it for one organisation, so that its many or slow uploads leave room for others.
  return { bytes, bytesOfOne: Math.max(full, Math.floor(bytes / 2)), batches }
}

/**
 * A body's share of the bytes in flight. It grows as the body arrives: if the declared size counted from the start, a few
 * clients that declare much and send little would keep out everybody else.
 */
export type Hold = {
  /** Makes the share this large, if there is room for it; whether there is. */
  growTo: (bytes: number) => boolean
  release: () => void
}

export type Load = {
  /** A share for a body of about `expected` bytes, empty at first; undefined where too much is in flight already. */
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
