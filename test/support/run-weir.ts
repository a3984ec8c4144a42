import { pino } from 'pino'
import { readConfig } from '#platform/process/config.js'
import { configSchema } from '../../services/operator/config.js'
import { runCommand } from '../../services/operator/program.js'

/**
 * Runs one of the operator's commands as services/operator/main.ts does, without the second that a process of its own takes to
 * start. A test that kills or interrupts a command runs the program.
 */
export const runWeir = async (words: readonly string[], env: NodeJS.ProcessEnv) => {
  const config = readConfig(configSchema, env)
  const said: Record<'stdout' | 'stderr', string[]> = { stdout: [], stderr: [] }
  let exitCode = 0
  const failed = await runCommand(words, {
    config,
    log: pino({ level: 'silent' }),
    print: (text) => said.stdout.push(text),
    note: (text) => said.stderr.push(text),
    endWith: (code) => {
      exitCode = code
    },
    env,
    width: 80,
  })
  return { stdout: said.stdout.join('\n'), stderr: said.stderr.join('\n'), exitCode: failed ?? exitCode }
}
