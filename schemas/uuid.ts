import { createHash } from 'node:crypto'

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** 8-4-4-4-12 hexadecimal digits of any version, in either case. */
export const isUuid = (text: string): boolean => pattern.test(text)

// With an Idempotency-Key, the same request has the same ids each time that it is sent: they are derived, not random.

export const keyedRequestId = (orgId: string, route: string, key: string): string =>
  derivedId('request', orgId, route, key)

/** Whether a request may have come with an Idempotency-Key: ids that are not derived are of version 7. */
export const mayBeKeyed = (requestId: string): boolean => requestId.charAt(versionAt) === '8'
const versionAt = 14

export const keyedInteractionId = (orgId: string, key: string): string => derivedId('interaction', orgId, key)

/** `before` are the records in earlier batches. The same request cut into other sizes, or by other lanes, has other batches. */
export const batchIdOf = (requestId: string, before: number, count: number, lanes = 1): string =>
  derivedId('batch', requestId, String(before), String(count), ...(lanes === 1 ? [] : [String(lanes)]))

// Interactions of several requests travel in one batch. The last four hexadecimal digits of an interaction's request id are
// its place in that batch, and the other digits are those of the batch's own request id: from the one id the verdict on the
// batch is found, and the place in it, and nothing has to be stored for each interaction.
const placeDigits = 4
const digitsBefore = 36 - placeDigits

/** The request id of a batch that interactions are gathered in, made from a new id. */
export const gatheredRequestId = (newId: string): string => interactionRequestId(newId, 0)

/** The request id of the interaction at this place in a gathered batch. */
export const interactionRequestId = (gatheredId: string, index: number): string =>
  gatheredId.slice(0, digitsBefore) + index.toString(16).padStart(placeDigits, '0')

/** The batch's request id and the place in that batch, if this is the request id of an interaction that came by itself. */
export const placeOfInteraction = (requestId: string): { gatheredId: string; index: number } => ({
  gatheredId: gatheredRequestId(requestId),
  index: Number.parseInt(requestId.slice(digitsBefore), 16),
})

/** Whether this is the request id of a batch that interactions were gathered in: no other request has such an id. */
export const isGathered = (requestId: string): boolean =>
  !mayBeKeyed(requestId) && requestId.endsWith('0'.repeat(placeDigits))

/**
 * The ids of the interactions of one request: these 32 characters, and then four digits for the place in the request. They are
 * derived from the request's id, and so the same each time that a request with an Idempotency-Key is sent. One hash serves for all
 * of them: one for each took longer than to read the interaction.
 */
export const interactionIdsOf = (requestId: string): string =>
  derivedId('interactions', requestId).slice(0, digitsBefore)

/** The id of the interaction at this place of a request. */
export const interactionIdAt = (requestId: string, place: number): string =>
  interactionIdsOf(requestId) + place.toString(16).padStart(placeDigits, '0')

/** Always the same id for the same parts: a UUID of version 8, whose bits are ours to choose. */
export const derivedId = (...parts: string[]): string => {
  // JSON keeps the parts apart, whatever they hold.
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest()
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

const anyUuid = /[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}/g
/** The id of nobody. Where the id of an erased person stood in a text, this stands now. */
export const nobody = '00000000-0000-0000-0000-000000000000'

/** The same for Postgres and ClickHouse. */
export const uuidPattern = anyUuid.source

/** The UUIDs that stand in a text, in either case, in lower case. */
export const uuidsIn = (text: string): string[] => (text.match(anyUuid) ?? []).map((id) => id.toLowerCase())
