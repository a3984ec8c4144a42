import { fingerprintOf } from './fingerprint.js'
import type { FromWorker, ToWorker } from './open-in-worker.js'
import { hasPart, type PartRanges, partsOf } from './parts.js'
import { lookAt, openFile } from './read-file.js'

// Reads one file beside the page: parsing it there held the page up for up to 0.9 s at a time.

let answered: PartRanges = []
let parts: ReturnType<typeof partsOf> | undefined

const answer = async (asked: ToWorker): Promise<FromWorker> => {
  if (asked.ask === 'fingerprint') return { fingerprint: await fingerprintOf(asked.file) }
  if (asked.ask === 'look') return { look: await lookAt(asked.file, asked.type, asked.said) }
  if (asked.ask === 'open') {
    const opened = await openFile(asked.file, asked.type, asked.reading)
    answered = asked.answered
    parts = partsOf(opened, asked.mostRows)
    return { opened: { format: opened.format, columns: opened.columns } }
  }
  const part = (await parts?.next())?.value ?? undefined
  // Nobody looks at the rows of a part that was answered before.
  return { part: part && hasPart(answered, part.number) ? { ...part, rows: [] } : part }
}

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  const said = await answer(data).catch((error: unknown): FromWorker => ({ problem: (error as Error).message }))
  self.postMessage(said)
}
