import type { RecordType } from '../../../schemas/record.js'
import { createToZone } from '../../typescript/src/files/zone.js'
import { UsageError } from '../read/row.js'

/** What is said of a file with such times. */
export const takenForUtc = (file: string): string =>
  `${file}: times without a zone are taken for UTC; --zone Europe/Berlin, say, takes them for those of another zone`

/** A zone that this machine knows, such as Europe/Berlin. */
export const readZone = (given: string): string => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: given }).resolvedOptions().timeZone
  } catch {
    throw new UsageError(`there is no zone ${given}: write one such as --zone Europe/Berlin, or --zone UTC`)
  }
}

export const createInZone = (type: RecordType, zone: string | undefined, onTakenForUtc: () => void) => {
  const moments = Object.entries(type.fields).filter(([, { kind }]) => kind === 'instant' || kind === 'moment')
  return createToZone(
    moments.map(([name]) => name),
    zone,
    onTakenForUtc,
  )
}
