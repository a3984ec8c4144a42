import { nearest } from '#schemas/derive/nearest-name.js'
import type { RecordType } from '#schemas/record.js'
import { type RequestError, requestError } from '../http/request-error.js'

/** The records in an upload's body; or why it is no upload. */
export const readRecords = (json: unknown, type: RecordType): { records: unknown[] } | { error: RequestError } => {
  if (!isObject(json)) return refuse('the body must be a JSON object with a "records" array')
  const unknown = Object.keys(json).find((name) => name !== 'records')
  if (unknown !== undefined) {
    const hint = nearest(unknown, ['records']) ? '; did you mean "records"?' : ''
    return refuse(`the body has a field besides "records"${hint}`)
  }
  const { records } = json
  if (records === undefined) return refuse('"records" is missing')
  if (!Array.isArray(records)) return refuse('"records" must be an array')
  if (records.length === 0) return refuse('"records" is empty')
  return records.length > type.limit
    ? refuse(`a request may carry at most ${type.limit} ${type.type}; this one carries ${records.length}`)
    : { records }
}

export const isObject = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

const refuse = (message: string) => ({ error: requestError(400, message) })
