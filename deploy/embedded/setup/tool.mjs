import { spawn } from 'node:child_process'
import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../../', import.meta.url))
export const partsDir = join(root, '.parts')

/** What stopped the set-up and what to do about it, as text for the terminal. */
export class SetUpFailure extends Error {
  name = 'SetUpFailure'
}

const TAIL_LINES = 15

/** Its output goes to .parts/logs/<name>.log, each line also to `onLine`; if it fails, the last lines and `nextStep` are shown. */
export async function runTool({
  name,
  command,
  args,
  nextStep,
  env = process.env,
  cwd = root,
  onLine = () => {},
  mayBeKilled = true,
}) {
  mkdirSync(join(partsDir, 'logs'), { recursive: true })
  const logFile = join(partsDir, 'logs', `${name}.log`)
  const log = createWriteStream(logFile)
  const tail = []
  // With a process group of its own, so that a signal reaches the tool's own processes too, and reaches them once.
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  running.set(child, { name, mayBeKilled })
  for (const stream of [child.stdout, child.stderr]) {
    let rest = ''
    stream.setEncoding('utf8').on('data', (text) => {
      log.write(text)
      // A carriage return alone ends a line that the next one would overwrite on a terminal.
      const lines = (rest + text).split(/\r?\n|\r/)
      rest = lines.pop() ?? ''
      for (const line of lines) {
        onLine(line)
        if (line.trim() !== '' && !line.startsWith('Progress (') && tail.push(line) > TAIL_LINES) tail.shift()
      }
    })
  }
  const ending = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : (signal ?? `exit code ${code}`)))
  })
  running.delete(child)
  log.end()
  // Ended by our own signal: that is no failure to tell of, and no next step may begin.
  if (hasSignal) await new Promise(() => {})
  if (ending === undefined) return
  const shown = tail.map((line) => `  ${line}`).join('\n')
  throw new SetUpFailure(`${name} failed (${ending}):\n${shown}\nThe whole output is in ${logFile}\n${nextStep}`)
}

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }
const KILL_AFTER_MS = 1_000
/** The tools that run now, each with its name and whether it may be killed. */
const running = new Map()
let hasSignal = false

/** Whether a signal has come, and all that is left to do is to end. */
export const isStopping = () => hasSignal

/** From now on a signal ends the running tool with all that it has started, then this process. Returns how to undo that. */
export function endOnSignal(output = process.stderr) {
  const handlers = Object.entries(EXIT_CODES).map(([signal, code]) => {
    const handler = () => {
      if (hasSignal) return
      hasSignal = true
      const clear = output.isTTY ? '\r\x1b[K' : ''
      const spared = [...running.values()].find(({ mayBeKilled }) => !mayBeKilled)
      output.write(`${clear}stopping …${spared ? ` when ${spared.name} is done, which must not be cut short` : ''}\n`)
      void endTools().then(() => process.exit(code))
    }
    process.on(signal, handler)
    return () => process.off(signal, handler)
  })
  return () => {
    for (const off of handlers) off()
  }
}

async function endTools() {
  const tools = [...running]
  const ends = tools.map(([child]) => new Promise((resolve) => child.once('close', resolve)))
  for (const [child] of tools) send(child, 'SIGTERM')
  setTimeout(() => {
    for (const [child, { mayBeKilled }] of tools) if (mayBeKilled) send(child, 'SIGKILL')
  }, KILL_AFTER_MS)
  await Promise.all(ends)
}

// To its whole process group: npm and Maven have processes of their own, which may outlive them.
function send(child, signal) {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal)
  } catch (error) {
    // All of them are gone already.
    if (error.code !== 'ESRCH') throw error
  }
}
