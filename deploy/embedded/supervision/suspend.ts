import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { readIfThere } from './process-identity.mjs'

const STOPPED_WITHIN_MS = 5_000
const POLL_MS = 2

export class CannotSuspend extends Error {
  override name = 'CannotSuspend'
}

/**
 * Lets processes and all that they started stand still (SIGSTOP) until `resume`. Should this process end before that, even by a kill,
 * they go on by themselves: a shell with a session of its own, which notices its end, lets them.
 */
export const suspendProcesses = async (pids: readonly number[]) => {
  const keeper = spawn('sh', ['-c', letThemGoOn], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  await once(keeper, 'spawn')
  const keeperEnded = once(keeper, 'exit')
  const stopped: number[] = []
  // Ctrl-Z would let this process stand still as well, and the others with it.
  const stayAwake = () => {}
  process.on('SIGTSTP', stayAwake)

  const resume = async (): Promise<void> => {
    process.off('SIGTSTP', stayAwake)
    for (const pid of stopped.reverse()) send(pid, 'SIGCONT')
    keeper.stdin.end()
    await keeperEnded
  }
  // A process before its children: what stands still starts no further ones.
  const stop = async (pid: number): Promise<void> => {
    await new Promise((written) => keeper.stdin.write(`${pid}\n`, written))
    stopped.push(pid)
    send(pid, 'SIGSTOP')
    const end = Date.now() + STOPPED_WITHIN_MS
    while (!standsStill(pid)) {
      if (Date.now() > end)
        throw new CannotSuspend(`process ${pid} does not stand still after ${STOPPED_WITHIN_MS / 1000} s`)
      await delay(POLL_MS)
    }
    for (const child of childrenOf(pid)) await stop(child)
  }
  try {
    for (const pid of pids) await stop(pid)
  } catch (error) {
    await resume()
    throw error
  }
  return { resume, allStandStill: () => pids.every((pid) => isThere(pid) && standsStill(pid)) }
}

const letThemGoOn = 'pids=; while read -r pid; do pids="$pids $pid"; done; [ -z "$pids" ] || kill -CONT $pids'

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** The state and the parent of a process or thread, from its line in /proc. The name in brackets may hold anything. */
const statusIn = (file: string): { state: string; parent: number } | undefined => {
  const line = readIfThere(file)
  if (line === undefined) return undefined
  const [state = '', parent = ''] = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return { state, parent: Number(parent) }
}

const isThere = (pid: number): boolean => !/^[ZX]?$/.test(statusIn(`/proc/${pid}/stat`)?.state ?? '')

/** Every thread of it: one that writes to a disk stands still only when it has written. A process that is gone writes nothing. */
const standsStill = (pid: number): boolean => {
  const threads = threadsOf(pid)
  return threads.every((thread) => /^[TtZX]$/.test(statusIn(`/proc/${pid}/task/${thread}/stat`)?.state ?? 'X'))
}

const threadsOf = (pid: number): string[] => {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

const childrenOf = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => statusIn(`/proc/${each}/stat`)?.parent === pid)
