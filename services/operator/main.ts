// The operator's commands, beside the path of a record: it prepares the parts, decides who may send, and looks after what came of it.
import { Command } from 'commander'
import { pino } from 'pino'
import { reasonOf } from '#platform/health/health.js'
import { readConfigOrExit } from '#platform/process/config.js'
import { catalogue } from '#schemas/catalogue.js'
import { addAnalysts } from './access/analysts.js'
import { addKeysList, addKeysRevoke } from './access/keys.js'
import { addKeysIssue, addKeysRotate } from './access/new-keys.js'
import { addOrgs } from './access/orgs.js'
import { withParts } from './command/servers.js'
import { examples, type Session, toPasted } from './command/session.js'
import { configSchema } from './config.js'
import { addAcceptLoss } from './loss/accept-loss.js'
import { addProvision } from './provision/provision.js'
import { addPrune } from './prune/prune.js'
import { addRebuildAnalytics } from './rebuild/rebuild-analytics.js'
import { addRebuildIndex } from './rebuild/rebuild-index.js'
import { addRejectedList } from './rejected/list.js'
import { addRejectedRetry } from './rejected/retry.js'
import { addRejectedShow } from './rejected/show.js'
import { addVerify } from './verify/command.js'
import { addWaitingCancel } from './waiting/cancel.js'
import { addWaitingList } from './waiting/list.js'
import { addWaitingShow } from './waiting/show.js'

const config = readConfigOrExit(configSchema)
// On standard error: standard output carries nothing but a command's result.
const log = pino({ level: config.LOG_LEVEL, base: { service: 'operator' } }, pino.destination(2))

const session: Session = {
  config,
  catalogue,
  log,
  withParts: (names, work, options) => withParts({ config, log }, names, work, options),
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${toPasted(text, config.CALLED_AS)}\n`),
  width: process.stdout.isTTY ? process.stdout.columns : 80,
}

const program = new Command('weir')
  .description('Operate Weir: its keys, its organisations, their analysts and the parts it runs on.')
  .configureHelp({ helpWidth: session.width, showGlobalOptions: false })
  .configureOutput({
    writeOut: (text) => process.stdout.write(toPasted(text, config.CALLED_AS)),
    writeErr: (text) => process.stderr.write(toPasted(text, config.CALLED_AS)),
    outputError: (text, write) => write(text.replace(/^error:/, 'weir:')),
  })
  .showHelpAfterError('See how it is used: "weir --help", or --help behind a command.')
  .addHelpText(
    'after',
    '\nFor uploaders: weir upload, weir check and weir sample, each with --help (docs/for-uploaders.md).',
  )
  .addHelpText('after', examples('keys issue --org acme', 'keys list', 'keys issue --help'))

const keys = program.command('keys').description('issue, list, rotate and revoke API keys')
for (const add of [addKeysIssue, addKeysList, addKeysRotate, addKeysRevoke]) add(keys, session)

addOrgs(program, session)
addAnalysts(program, session)

const rejected = program.command('rejected').description('look at refused records, and submit them again')
for (const add of [addRejectedList, addRejectedShow, addRejectedRetry]) add(rejected, session)

const waiting = program
  .command('waiting')
  .description('look at records that wait for what they refer to, and cancel them')
for (const add of [addWaitingList, addWaitingShow, addWaitingCancel]) add(waiting, session)

addPrune(program, session)
const rebuild = program
  .command('rebuild')
  .description('make the entity index or the ClickHouse tables anew from the log')
addRebuildIndex(rebuild, session)
addRebuildAnalytics(rebuild, session)

for (const add of [addProvision, addVerify, addAcceptLoss]) add(program, session)

// `weir keys list | head -1` closes the pipe early, and that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

try {
  await program.parseAsync()
} catch (error) {
  session.note(`weir: ${reasonOf(error)}`)
  log.debug({ err: error }, 'command failed')
  // A client that still tries to reach a part would keep the process alive.
  process.exit(1)
}
