import { pino } from 'pino'
import { readConfig } from '#platform/process/config.js'
import { catalogue } from '#schemas/catalogue.js'
import { withParts } from '../../services/operator/command/servers.js'
import { toPasted } from '../../services/operator/command/session.js'
import { configSchema } from '../../services/operator/config.js'
import { runCommand } from '../../services/operator/program.js'

/**
 * Runs one of the operator's commands as services/operator/main.ts does, without the second that a process of its own takes to
 * start. A test that kills or interrupts a command runs the program.
 */
export const runWeir = async (words: readonly string[], env: NodeJS.ProcessEnv) => {
  const config = readConfig(configSchema, env)
  const log = pino({ level: 'silent' })
  const said: Record<'stdout' | 'stderr', string[]> = { stdout: [], stderr: [] }
  let exitCode = 0
  const failed = await runCommand(words, {
    config,
    catalogue,
    log,
    withParts: (names, work, options) => withParts({ config, log }, names, work, options),
    print: (text) => said.stdout.push(text),
    note: (text) => said.stderr.push(toPasted(text, config.CALLED_AS)),
    endWith: (code) => {
      exitCode = code
    },
    width: 80,
  })
  return { stdout: said.stdout.join('\n'), stderr: said.stderr.join('\n'), exitCode: failed ?? exitCode }
}
