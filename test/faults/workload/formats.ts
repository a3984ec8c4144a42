import { catalogue } from '#schemas/catalogue.js'
import { csvOf, ndjsonOf } from '../../support/lined.js'
import type { Random } from '../random.js'
import type { UploadStep } from './plan.js'

export const contentTypes = { json: 'application/json', ndjson: 'application/x-ndjson', csv: 'text/csv' } as const
export type Format = keyof typeof contentTypes

type Sent = Pick<UploadStep, 'type' | 'records'>

const fieldsOf = (type: string) => catalogue.uploads.get(type)?.fields ?? {}

/** Any of these formats in which the records can be said: a CSV has no room for a field that its type does not have. */
export const formatFor = <F extends Format>({ type, records }: Sent, random: Random, formats: readonly F[]): F => {
  const fields = fieldsOf(type)
  const hasStrangers = records.some(({ record }) => Object.keys(record).some((field) => !(field in fields)))
  return random.pick(formats.filter((format) => format !== 'csv' || !hasStrangers))
}

export const bodyOf = (format: Format, { type, records }: Sent): string => {
  const all = records.map(({ record }) => record)
  switch (format) {
    case 'json':
      return JSON.stringify({ records: all })
    case 'ndjson':
      return ndjsonOf(all)
    case 'csv':
      return csvOf({ fields: fieldsOf(type) }, all)
  }
}
