import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export type RunningEngine = {
  /** The address for analysts. */
  url: string
  /** The one for Weir's own services, with their user and password. */
  ownUrl: string
  kill: (signal: NodeJS.Signals) => Promise<number | null>
  /** Resolves to the signal that ended it, if one did. */
  ended: Promise<NodeJS.Signals | null>
}

/** Starts the real process on a free port and waits until it says where it listens. `before` is put before its command. */
export const startEngine = async (
  path: string,
  env: NodeJS.ProcessEnv = {},
  before: readonly string[] = [],
): Promise<RunningEngine> => {
  const [command = '', ...args] = [...before, process.execPath]
  const child = spawn(command, [...args, '--import', 'tsx', 'deploy/embedded/clickhouse/main.ts'], {
    env: {
      ...process.env,
      UV_THREADPOOL_SIZE: '16',
      CLICKHOUSE_PORT: '0',
      CLICKHOUSE_PATH: path,
      CLICKHOUSE_WEIR_PASSWORD: 'secret',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit').then(([, signal]) => signal as NodeJS.Signals | null)
  const port = await portOf(child)
  return {
    ended,
    url: `http://127.0.0.1:${port}`,
    ownUrl: `http://weir:secret@127.0.0.1:${port}`,
    kill: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      child.kill(signal)
      await once(child, 'exit')
      return child.exitCode
    },
  }
}

const portOf = async (child: ChildProcess): Promise<number> => {
  if (child.stdout === null) throw new Error('no output to read')
  for await (const line of createInterface({ input: child.stdout })) {
    const entry = JSON.parse(line)
    if (entry.msg === 'clickhouse started') {
      child.stdout.resume()
      return entry.port
    }
    if (entry.msg === 'clickhouse cannot start') throw new Error(entry.reason)
  }
  throw new Error('the engine ended before it started')
}
