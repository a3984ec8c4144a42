import { readdir, readFile } from 'node:fs/promises'

/** Ends every process with this NAME=value in its environment, and says which they were. Linux only; elsewhere none. */
export const endProcessesWith = async (variable: string): Promise<string[]> => {
  const left: string[] = []
  for (const pid of (await readOr(readdir('/proc'), [])).filter((name) => /^\d+$/.test(name))) {
    const environment = await readOr(readFile(`/proc/${pid}/environ`, 'utf8'), '')
    if (!environment.split('\0').includes(variable) || Number(pid) === process.pid) continue
    const command = await readOr(readFile(`/proc/${pid}/cmdline`, 'utf8'), '')
    left.push(`${pid} ${command.replaceAll('\0', ' ').slice(0, 120)}`)
    process.kill(Number(pid), 'SIGKILL')
  }
  return left
}

// Processes end while we look, and those of others are not ours to read.
const readOr = <T>(promise: Promise<T>, fallback: T): Promise<T> => promise.catch(() => fallback)
