import type { SubmittedBatch } from '#schemas/events.js'
import type { Log } from './log.js'
import type { Postgres, WaitingRow } from './postgres.js'
import type { Rules } from './rules.js'

/** The relay, as services/integrity/waiting/relay.ts: it appends what is due to its lane, and notes that afterwards. */
export const createRelay = (deps: {
  submitted: Log<SubmittedBatch>
  postgres: Postgres
  rules: Rules
  release: (row: WaitingRow) => void
  now: () => number
  note: (line: string) => void
}) => {
  const { submitted, postgres, rules, note } = deps
  let moment: { rows: Map<WaitingRow, number>; underWay: ReadonlySet<object> } | undefined
  let resumes = 0
  /** What this relay has sent: the names of rows, each with its change. */
  const sentLately = new Set<string>()
  const keyOf = ({ name, change }: WaitingRow): string => `${name}/${change}`

  const isDue = (row: WaitingRow, time: number): boolean =>
    row.state === 'waiting' && !row.isSent && (row.isDue || row.until <= time || postgres.hasArrived(row))

  return {
    /** Notes which rows are new and which transactions are under way; looks at those rows once all of these have ended. */
    look: (): void => {
      if (!rules.checksNew) return
      if (!moment) {
        const rows = postgres.rows().filter(({ state, isChecked }) => state === 'waiting' && !isChecked)
        moment = { rows: new Map(rows.map((row) => [row, row.change])), underWay: postgres.underWay() }
        return
      }
      const open = postgres.underWay()
      if ([...moment.underWay].some((transaction) => open.has(transaction))) return
      for (const [row, change] of moment.rows) {
        if (row.state !== 'waiting' || row.isChecked || row.change !== change) continue
        row.isChecked = true
        row.isDue ||= postgres.isThere(row)
        if (row.isDue) note(`the relay finds that what ${row.name} waits for is there`)
      }
      moment = undefined
    },

    /** Whether there was something to send. `forgets`: it crashes before it has noted what it sent. */
    send: (forgets: boolean): boolean => {
      const time = deps.now()
      const due = postgres.rows().filter((row) => isDue(row, time))
      for (const row of due) {
        // Where its lane should not come to one that has yet to be looked at, the look finds it.
        const isWatched = !row.isChecked && !row.isDue && row.until > time
        const isOnItsWay = !postgres.hasArrived(row) && sentLately.has(keyOf(row))
        if (!rules.releasesInLane) deps.release(row)
        else if (!isOnItsWay) append(row, time)
        sentLately.add(keyOf(row))
        if (!forgets && !isWatched) row.isSent = true
      }
      if (!forgets) postgres.forgetArrived()
      return due.length > 0
    },

    crash: (): void => {
      moment = undefined
      sentLately.clear()
      note('the relay crashes')
    },
  }

  function append(row: WaitingRow, time: number): void {
    const id = `resume-${resumes++}`
    const batch: SubmittedBatch = {
      org_id: row.orgId,
      request_id: id,
      batch_id: id,
      batch: 1,
      batches: 1,
      first_index: 0,
      submitted_at: time,
      body_sha256: Buffer.alloc(1),
      records: [{ ...row.record, index: 0 }],
      refusals: [],
      resumed: [
        {
          index: 0,
          request_id: row.requestId,
          batch_id: row.batchId,
          place: row.place,
          request_index: row.requestIndex,
          version: row.version,
          since: row.since,
          until: row.until,
        },
      ],
    }
    const offset = submitted.append(row.topic, row.partition, batch)
    note(`the relay appends ${id} of ${row.name} at ${row.topic}/${row.partition}@${offset}`)
  }
}

export type Relay = ReturnType<typeof createRelay>
