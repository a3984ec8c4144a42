import type { RecordType } from '../record.js'
import { createChance, idOf } from './chance.js'
import type { Sample } from './records.js'

/** A row that is wrong on purpose: its fields, or the line as it stands in the file. */
type BrokenRow = { record: Record<string, unknown> } | { line: string }

/** Spoils a right record in one of the ways in which real files are wrong. */
export const spoil = (
  { seed }: Sample,
  type: RecordType,
  index: number,
  right: Record<string, unknown>,
  write: (record: Record<string, unknown>) => string,
): BrokenRow => {
  const chance = createChance(seed, 'how', type.type, index)
  const fields = Object.entries(type.fields)
  const required = fields.filter(([, field]) => field.required).map(([name]) => name)
  const number = fields.find(([, { kind, required }]) => kind === 'number' && required)?.[0]
  const reference = fields.find(([, { kind, required }]) => (kind === 'reference' || kind === 'item') && required)?.[0]
  const country = fields.find(([, { kind }]) => kind === 'country')?.[0]
  const ways: BrokenRow[] = [
    { record: without(right, chance.one(required)) },
    ...(type.fields[type.id] ? [{ record: { ...right, [type.id]: `not-a-uuid-${index}` } }] : []),
    ...(number ? [{ record: { ...right, [number]: -1 } }, { record: { ...right, [number]: 'twelve' } }] : []),
    ...(reference ? [{ record: { ...right, [reference]: idOf(seed, 'nobody', type.type, index) } }] : []),
    ...(country ? [{ record: { ...right, [country]: 'Great Britain' } }] : []),
    { line: oddLine(write(right)) },
  ]
  return chance.one(ways)
}

const without = (record: Record<string, unknown>, name: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).filter(([key]) => key !== name))

/** A line that no reader takes: JSON that is cut off, or CSV with two cells too many. */
const oddLine = (line: string): string => (line.startsWith('{') ? line.slice(0, -2) : `${line},,surplus`)
