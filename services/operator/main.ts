// The operator's commands, beside the path of a record: it prepares the parts, decides who may send, and looks after what came of it.
import { pino } from 'pino'
import { readConfigOrExit } from '#platform/process/config.js'
import { configSchema } from './config.js'
import { runCommand } from './program.js'

const config = readConfigOrExit(configSchema)
// On standard error: standard output carries nothing but a command's result.
const log = pino({ level: config.LOG_LEVEL, base: { service: 'operator' } }, pino.destination(2))

// `weir keys list | head -1` closes the pipe early, and that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const failed = await runCommand(process.argv.slice(2), {
  config,
  log,
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
  endWith: (exitCode) => {
    process.exitCode = exitCode
  },
  env: process.env,
  // In a pipe or a file nothing wraps: a line for each row can be searched and cut.
  // Some terminals say that they have no columns (`script`, some CI): a text would be cut into pieces of nothing, without an end.
  width: process.stdout.columns || Number.POSITIVE_INFINITY,
})
// A client that still tries to reach a part would keep the process alive; after a command that did its work, a moment for its output.
if (failed !== undefined) process.exit(failed)
setTimeout(() => process.exit(), 500).unref()
