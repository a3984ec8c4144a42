import { isPlace, isTime, readCursor, writeCursor } from '#http/cursor.js'
import type { Problems } from '#http/read-values.js'
import type { AfterMissing, AfterWait } from '#ledger/waiting/look-up.js'
import type { BodyOf } from '#schemas/endpoints/endpoint.js'
import type { cancelWaiting } from '#schemas/endpoints/waiting.js'
import type { Problem } from '#schemas/problem.js'
import { isUuid } from '#schemas/uuid.js'
import type { OwnWaits } from './waiting.js'

// What is asked about waiting records, beyond what each value has to be by itself.

type AskedWaits = BodyOf<typeof cancelWaiting>

/** Which records are meant. What is missing is named by its type and its id. */
export const toWaits = ({ type, id, missing_type, missing_id }: AskedWaits): { filter: OwnWaits } | Problems => {
  if (missing_type === undefined && missing_id !== undefined) return wrong('missing_id needs missing_type beside it')
  if (missing_id === undefined && missing_type !== undefined) return wrong('missing_type needs missing_id beside it')
  return {
    filter: {
      ...(type !== undefined && { type }),
      ...(id !== undefined && { id }),
      ...(missing_type !== undefined &&
        missing_id !== undefined && { missing: { type: missing_type, id: missing_id } }),
    },
  }
}

/** Nothing said, or no more than a type, would cancel everything; a program that forgot to fill in an id must not. */
export const toCancelled = (asked: AskedWaits): { filter: OwnWaits } | Problems => {
  const waits = toWaits(asked)
  if ('problems' in waits) return waits
  const isExact = (asked.type !== undefined && asked.id !== undefined) || asked.missing_id !== undefined
  return isExact
    ? waits
    : wrong('say which: "type" and "id" of one record, or "missing_type" and "missing_id" of what is waited for')
}

const wrong = (message: string): Problems => ({
  problems: [{ field: null, code: 'missing_field', message } satisfies Problem],
})

export const writeAfterMissing = ({ oldest, type, id }: AfterMissing): string =>
  writeCursor([oldest.getTime(), type, id])

export const readAfterMissing = (text: string): AfterMissing | undefined => {
  const [time, type, id] = readCursor(text, 3)
  if (!isTime(time) || typeof type !== 'string' || !isTypeName(type) || typeof id !== 'string' || !isUuid(id))
    return undefined
  return { oldest: new Date(time), type, id }
}

export const writeAfterWait = ({ since, batchId, place }: AfterWait): string =>
  writeCursor([since.getTime(), batchId, place])

export const readAfterWait = (text: string): AfterWait | undefined => {
  const [time, batchId, place] = readCursor(text, 3)
  if (!isTime(time) || typeof batchId !== 'string' || !isUuid(batchId) || !isPlace(place)) return undefined
  return place <= largestPlace ? { since: new Date(time), batchId, place } : undefined
}

// Postgres keeps a place as an integer.
const largestPlace = 0x7fff_ffff

/** One that was in the catalogue once may still be in a cursor. */
const isTypeName = (text: string): boolean => /^[a-z][a-z0-9-]{0,60}$/.test(text)
