import { readdir, readFile, readlink } from 'node:fs/promises'

const LISTEN = '0A'

/** "java (process 1234)", where the system tells: Linux only, and only of processes that we may look at. */
export const findPortHolder = async (port: number): Promise<string | undefined> => {
  const sockets = new Set([...(await listeners('/proc/net/tcp', port)), ...(await listeners('/proc/net/tcp6', port))])
  if (sockets.size === 0) return undefined
  for (const pid of (await tolerant(readdir('/proc'), [])).filter((name) => /^\d+$/.test(name))) {
    for (const descriptor of await tolerant(readdir(`/proc/${pid}/fd`), [])) {
      if (!sockets.has(await tolerant(readlink(`/proc/${pid}/fd/${descriptor}`), ''))) continue
      const name = await tolerant(readFile(`/proc/${pid}/comm`, 'utf8'), '')
      return `${name.trim() || 'a program'} (process ${pid})`
    }
  }
  return undefined
}

const listeners = async (file: string, port: number): Promise<string[]> => {
  const lines = (await tolerant(readFile(file, 'utf8'), '')).split('\n').slice(1)
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === LISTEN && local?.endsWith(`:${hexPort}`))
    .map((fields) => `socket:[${fields[9]}]`)
}

// Processes come and go while we look, and some are not ours to look at.
const tolerant = <T>(promise: Promise<T>, fallback: T): Promise<T> => promise.catch(() => fallback)
