import type { World } from '#schemas/decide.js'
import { personFieldsOf } from '#schemas/persons/about-persons.js'
import type { RecordType } from '#schemas/record.js'
import { uuidsIn } from '#schemas/uuid.js'
import { type Gate, hashBehind } from './gates.js'

/**
 * Tells records of persons whom an organisation has had erased; of one that is deleted, all records. A record that was refused before is a text, in which the id may stand anywhere;
 * an id that is no UUID would be found in everything, so it has to be the value of its field.
 */
export const createIsErased = (
  type: RecordType,
  gate: Gate,
  onSeen: (hash: string) => void = () => {},
): NonNullable<World['isErased']> => {
  const fields = personFieldsOf(type).map(({ field }) => field)
  const isBehind = (name: string): boolean => {
    const hash = hashBehind(gate, name)
    if (hash) onSeen(hash)
    return hash !== undefined
  }
  const isNamed = (record: Readonly<Record<string, unknown>>): boolean =>
    fields.some((field) => typeof record[field] === 'string' && isBehind(record[field]))
  return (record) => {
    if (gate.hashes.size === 0) return false
    if (gate.closed !== undefined) {
      onSeen(gate.closed)
      return true
    }
    if (typeof record !== 'string') return isNamed(record)
    return uuidsIn(record).some(isBehind) || isNamed(objectIn(record))
  }
}

/** What a text says as JSON; nothing where it is none. */
export const objectIn = (text: string): Record<string, unknown> => {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
