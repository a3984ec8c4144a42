import type { RejectionId } from '#ledger/retries.js'
import type { Problem } from '#schemas/problem.js'

/** A refused record, as ClickHouse keeps it. */
export type Rejection = RejectionId & {
  rejectedAt: Date
  org: string
  type: string
  requestId: string
  id: string | null
  problems: Problem[]
  /** As JSON; of a message that nobody could read, its bytes in base64. */
  record: string
  truncated: boolean
}

export const codesOf = ({ problems }: Pick<Rejection, 'problems'>): string[] => [
  ...new Set(problems.map(({ code }) => code)),
]

/** A message that nobody could read: it belongs to no organisation, and is no record. */
export const isSetAside = ({ org }: Pick<Rejection, 'org'>): boolean => org === ''

/** ClickHouse writes UTC times without saying so. */
export const readTime = (text: string): Date => new Date(`${text.replace(' ', 'T')}Z`)
