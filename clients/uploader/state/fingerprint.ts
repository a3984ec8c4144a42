import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'

/** What tells a file from another one, or from what it was before it was edited. */
export type Fingerprint = { sha256: string; size: number; mtimeMs: number }

/**
 * The SHA-256 of the whole file: of a part of it, an edit in the middle would not show, and records would be passed over as sent.
 * Where size and time are those of `before`, so is the hash; a file of 5 GB is then not read again at each start.
 */
export const fingerprintOf = async (file: string, before?: Fingerprint, signal?: AbortSignal): Promise<Fingerprint> => {
  const { size, mtimeMs } = await stat(file)
  if (before && before.size === size && before.mtimeMs === mtimeMs) return before
  const hash = createHash('sha256')
  for await (const block of createReadStream(file, { highWaterMark: 1024 * 1024, ...(signal && { signal }) }))
    hash.update(block as Buffer)
  return { sha256: hash.digest('hex'), size, mtimeMs }
}
