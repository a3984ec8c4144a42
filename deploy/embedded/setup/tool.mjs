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

/**
 * Runs one tool to its end. Its whole output goes to .parts/logs/<name>.log, each line also to `onLine`;
 * when it fails, the last lines and `nextStep` are what the user sees.
 */
export async function runTool({ name, command, args, nextStep, env = process.env, onLine = () => {} }) {
  mkdirSync(join(partsDir, 'logs'), { recursive: true })
  const logFile = join(partsDir, 'logs', `${name}.log`)
  const log = createWriteStream(logFile)
  const tail = []
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) {
    let rest = ''
    stream.setEncoding('utf8').on('data', (text) => {
      log.write(text)
      const lines = (rest + text).split(/\r?\n/)
      rest = lines.pop() ?? ''
      for (const line of lines) {
        onLine(line)
        if (line.trim() !== '' && tail.push(line) > TAIL_LINES) tail.shift()
      }
    })
  }
  const forget = endWithUs(child)
  const ending = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(code === 0 ? undefined : (signal ?? `exit code ${code}`)))
  })
  forget()
  log.end()
  if (ending === undefined) return
  const shown = tail.map((line) => `  ${line}`).join('\n')
  throw new SetUpFailure(`${name} failed (${ending}):\n${shown}\nThe whole output is in ${logFile}\n${nextStep}`)
}

// A signal sent to this process alone must not leave the tool running behind it.
function endWithUs(child) {
  const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }
  const handlers = Object.entries(signals).map(([signal, code]) => {
    const handler = () => {
      child.kill('SIGTERM')
      child.once('close', () => process.exit(code))
    }
    process.on(signal, handler)
    return () => process.off(signal, handler)
  })
  return () => {
    for (const off of handlers) off()
  }
}
