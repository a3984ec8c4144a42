import type { TypeReference } from '../../typescript/src/endpoints.js'
import type { FilePart, PartRanges } from './parts.js'
import type { lookAt, OpenFile } from './read-file.js'
import type { FileReading } from './reading.js'

export type ToWorker =
  | { ask: 'look'; file: File; type: TypeReference; said: SaidOfFile }
  | {
      ask: 'open'
      file: File
      type: TypeReference
      reading: FileReading | undefined
      mostRows: number
      answered: PartRanges
    }
  | { ask: 'next' }
  | { ask: 'fingerprint'; file: File }

export type FromWorker =
  | { opened: Pick<OpenFile, 'format' | 'columns'> }
  | { look: LookedAt }
  | { part: FilePart | undefined }
  | { fingerprint: string }
  | { problem: string }

/** A file that is read part by part; `next` gives undefined at its end. The parts that were answered come without their rows. */
export type PartReader = Pick<OpenFile, 'format' | 'columns'> & {
  next: () => Promise<FilePart | undefined>
  close: () => void
}

/** What people said of how a file is written. */
export type SaidOfFile = Parameters<typeof lookAt>[2]
export type LookedAt = Awaited<ReturnType<typeof lookAt>>

/** What a file shows of how it is written. */
export const lookInWorker = async (file: File, type: TypeReference, said: SaidOfFile): Promise<LookedAt> => {
  const { ask, close } = startWorker()
  try {
    const answered = await ask({ ask: 'look', file, type, said })
    if ('look' in answered) return answered.look
    throw new Error('the file could not be looked at')
  } finally {
    close()
  }
}

/** Reads a file beside the page, part after part, never more of it than was asked for. */
export const openParts = async (
  file: File,
  type: TypeReference,
  { reading, answered = [] }: { reading?: FileReading | undefined; answered?: PartRanges } = {},
): Promise<PartReader> => {
  const { ask, close } = startWorker()
  try {
    // Short enough to see it go, long enough to be quick.
    const mostRows = Math.min(type.limit, 1000)
    const said = await ask({ ask: 'open', file, type, reading, mostRows, answered })
    const next = async () => {
      const more = await ask({ ask: 'next' })
      return 'part' in more ? more.part : undefined
    }
    return { ...('opened' in said ? said.opened : { format: 'CSV', columns: undefined }), next, close }
  } catch (error) {
    close()
    throw error
  }
}

export const fingerprintInWorker = async (file: File): Promise<string> => {
  const { ask, close } = startWorker()
  try {
    const said = await ask({ ask: 'fingerprint', file })
    return 'fingerprint' in said ? said.fingerprint : ''
  } finally {
    close()
  }
}

/** One question after another: the next is asked when the last was answered. */
const startWorker = () => {
  const worker = new Worker(new URL('./file-worker.js', import.meta.url), { type: 'module' })
  const ask = (asked: ToWorker): Promise<FromWorker> =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<FromWorker>) =>
        'problem' in data ? reject(new Error(data.problem)) : resolve(data)
      worker.onerror = () =>
        reject(
          new Error(
            'the part of this page that reads files could not be started: reload the page, which may be an older one than the service',
          ),
        )
      worker.postMessage(asked)
    })
  return { ask, close: () => worker.terminate() }
}
