// What uploaders hold in their hands: files → chunks → the edge, by way of the SDK. It needs a server and a key, and none of the
// parts behind them.
import { Command, CommanderError } from 'commander'
import { addCheck } from './commands/check.js'
import { codeOf, exitCodes, lineOf } from './commands/exit-codes.js'
import type { Terminal } from './commands/options.js'
import { addSample } from './commands/sample.js'
import { addUpload } from './commands/upload.js'

const calledAs = process.env.CALLED_AS || 'npm run -s weir --'
const interrupt = new AbortController()
const terminal: Terminal = {
  env: process.env,
  calledAs,
  out: (text) => process.stdout.write(`${text}\n`),
  signal: interrupt.signal,
}

// What is under way is given up: it is sent again by the next run, and counts once. Whatever hangs all the same is left behind.
const onSignal = (): void => {
  if (interrupt.signal.aborted) process.exit(exitCodes.interrupted)
  interrupt.abort(new Error('interrupted'))
  setTimeout(() => process.exit(exitCodes.interrupted), 800).unref()
}
process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onSignal)
// `weir upload … | head -1` closes the pipe early, and that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

// The package alone brings a command of another name.
const program = new Command(calledAs.endsWith('weir-upload') ? 'weir-upload' : 'weir')
  .description('Upload records to Weir.')
  .exitOverride()
  .configureOutput({
    outputError: (text, write) => write(text.replace(/^error:/, 'weir:')),
  })
  .showHelpAfterError(`See how it is used: ${calledAs} upload --help`)
addUpload(program, terminal)
addCheck(program, terminal)
addSample(program, terminal)

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage
  else {
    process.stderr.write(`weir: ${lineOf(error)}\n`)
    process.exitCode = codeOf(error)
  }
}
// A connection that is kept open would keep the process alive for some seconds.
process.exit()
