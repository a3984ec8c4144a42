import type { PartRanges } from '../rows/parts.js'
import type { FileReading } from '../rows/reading.js'

/** What is known of an upload after a reload: which file it was of, and which of its parts were answered. No record, and no key. */
export type UploadJournal = {
  /** The parts' Idempotency-Keys begin with it. */
  run: string
  /** When something was last written here. */
  at: number
  org: string
  type: string
  isPatient: boolean
  /** How the file is read; missing where it is plain, and its columns are fields by their own names. */
  reading?: FileReading | undefined
  name: string
  size: number
  fingerprint: string
  answered: PartRanges
  /** How many bytes of the file the answered parts have. */
  bytes: number
  accepted: number
  refused: number
  waiting: number
}

export type UploadJournals = {
  /** Those of an organisation's uploads that nobody sends at the moment, the newest first. */
  stopped: (org: string) => Promise<UploadJournal[]>
  write: (journal: UploadJournal) => void
  remove: (run: string) => void
  /** Does the work of an upload; meanwhile no tab takes it for one that has stopped. */
  whileRunning: <Result>(run: string, work: () => Promise<Result>) => Promise<Result>
}

type JournalDeps = {
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> & Record<string, unknown>
  /** Undefined on pages that did not come over https: there a tab may offer to go on with what another one still sends. */
  locks: Pick<LockManager, 'request' | 'query'> | undefined
  now?: () => number
}

export const createJournals = ({ storage, locks, now = Date.now }: JournalDeps): UploadJournals => ({
  stopped: async (org) => {
    const held = new Set((await locks?.query())?.held?.map(({ name }) => name))
    const found = Object.keys(storage)
      .filter((name) => name.startsWith(prefix))
      .flatMap((name) => {
        const journal = read(storage.getItem(name))
        const isOld = !journal || now() - journal.at > longestKept
        if (isOld) storage.removeItem(name)
        return isOld || held.has(name) ? [] : [journal]
      })
    return found.filter((journal) => journal.org === org).sort((a, b) => b.at - a.at)
  },
  write: (journal) => {
    try {
      storage.setItem(prefix + journal.run, JSON.stringify({ ...journal, at: now() }))
    } catch {
      // The browser keeps nothing, or no more: the upload goes on, and after a reload it begins anew.
    }
  },
  remove: (run) => storage.removeItem(prefix + run),
  whileRunning: async (run, work) => (locks ? await locks.request(prefix + run, work) : work()),
})

const prefix = 'weir.upload.'
// The service knows Idempotency-Keys for a day.
const longestKept = 86_400_000

const read = (text: string | null): UploadJournal | undefined => {
  try {
    const journal = JSON.parse(text ?? '') as UploadJournal
    return Array.isArray(journal.answered) && typeof journal.at === 'number' ? journal : undefined
  } catch {
    return undefined
  }
}
