import { randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export type Spool = Awaited<ReturnType<typeof openSpool>>

/**
 * A folder for the data of requests while the engine reads it. The binding passes text as UTF-8, which
 * breaks binary data, and a body of any size must not stand in memory.
 */
export const openSpool = async (folder: string) => {
  // What an earlier process left behind belongs to requests that nobody waits for any more.
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const newPath = () => join(folder, randomUUID())
  return {
    newPath,
    write: async (data: AsyncIterable<Buffer>): Promise<string> => {
      const path = newPath()
      try {
        await pipeline(data, createWriteStream(path))
        return path
      } catch (error) {
        await rm(path, { force: true })
        throw error
      }
    },
    read: (path: string): Readable => createReadStream(path),
    remove: (path: string) => rm(path, { force: true }),
  }
}
