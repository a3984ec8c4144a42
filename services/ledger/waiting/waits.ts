import type { Problem } from '#schemas/problem.js'
import type { Reference } from '#schemas/record.js'

// integrity.waiting as integrity keeps it: records that wait, and how their waiting ends. What people see of it is in look-up.ts.

/** Where a waiting record was first submitted: the key of its row. */
export type WaitPlace = { batchId: string; place: number }

/** A record that began to wait; `state` says otherwise where a newer one of its id followed in the same fetch. */
export type BegunWait = WaitPlace & {
  orgId: string
  type: string
  id: string
  requestId: string
  requestIndex: number
  version: number
  topic: string
  partition: number
  keyedSha256: Buffer | null
  missing: Reference[]
  since: number
  until: number
  state: 'waiting' | 'superseded'
}

/** A record that waits no more. */
export type EndedWait = WaitPlace & {
  type: string
  state: 'accepted' | 'refused' | 'superseded'
  problems: Problem[] | null
  acceptedVersion: number | null
}

/** A record that was decided anew, and goes on waiting. */
export type ProlongedWait = WaitPlace & { missing: Reference[] }

/** What decisions change among the records that wait. */
export type WaitChanges = { begun: BegunWait[]; ended: EndedWait[]; prolonged: ProlongedWait[] }
