// The operator's desk beside the path of a record: it prepares the parts, and decides who may send.
import { Command } from 'commander'
import { reasonOf } from '#platform/health/health.js'
import { readConfigOrExit } from '#platform/process/config.js'
import { catalogue } from '#schemas/catalogue.js'
import { addAnalystsCreate } from './access/analysts.js'
import { addAnalystsDrop } from './access/analysts-drop.js'
import { addAnalystsList } from './access/analysts-list.js'
import { addKeysList } from './access/keys.js'
import { addKeysIssue } from './access/keys-issue.js'
import { addKeysRevoke } from './access/keys-revoke.js'
import { addKeysRotate } from './access/new-keys.js'
import { addOrgsLimits } from './access/orgs.js'
import { addOrgsCreate } from './access/orgs-create.js'
import { addOrgsList } from './access/orgs-list.js'
import { configSchema } from './config.js'
import { createStderrLog } from './desk/log.js'
import { examples, type Session } from './desk/session.js'
import { withPool } from './desk/with-pool.js'
import { addProvision } from './provision/command.js'
import { addPrune } from './prune/prune.js'
import { addRebuildAnalytics } from './rebuild/analytics.js'
import { addRebuildIndex } from './rebuild/command-index.js'
import { addRejectedList } from './rejected/list.js'
import { addRejectedRetry } from './rejected/retry.js'
import { addRejectedShow } from './rejected/show.js'
import { addVerify } from './verify/command.js'

const config = readConfigOrExit(configSchema)
const log = createStderrLog(config.LOG_LEVEL)

const session: Session = {
  config,
  catalogue,
  withPool: (work) => withPool(config.POSTGRES_URL, log, work),
  print: (text) => process.stdout.write(`${text}\n`),
  note: (text) => process.stderr.write(`${text}\n`),
  width: process.stdout.isTTY ? process.stdout.columns : 80,
}

const program = new Command('weir')
  .description('Operate Weir: its keys, its organisations, their analysts and the parts it runs on.')
  .configureHelp({ helpWidth: session.width, showGlobalOptions: false })
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error:/, 'weir:')) })
  .showHelpAfterError('Add --help to see how it is used.')
  .addHelpText('after', examples('keys issue --org acme', 'keys list', 'keys issue --help'))

const keys = program.command('keys').description('issue, list, rotate and revoke API keys')
addKeysIssue(keys, session)
addKeysList(keys, session)
addKeysRotate(keys, session)
addKeysRevoke(keys, session)

const orgs = program.command('orgs').description('create and list organisations, and limit what they send')
addOrgsCreate(orgs, session)
addOrgsList(orgs, session)
addOrgsLimits(orgs, session)

const analysts = program.command('analysts').description('create, list and drop ClickHouse users of one organisation')
addAnalystsCreate(analysts, session)
addAnalystsList(analysts, session)
addAnalystsDrop(analysts, session)

const rejected = program.command('rejected').description('look at refused records, and submit them again')
addRejectedList(rejected, session)
addRejectedShow(rejected, session)
addRejectedRetry(rejected, session)

addPrune(program, session, log)
const rebuild = program
  .command('rebuild')
  .description('make the entity index or the ClickHouse tables anew from the log')
addRebuildIndex(rebuild, session, log)
addRebuildAnalytics(rebuild, session, log)

addProvision(program, session, log)
addVerify(program, session, log)

// `weir keys list | head -1` closes the pipe early, and is content.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

try {
  await program.parseAsync()
} catch (error) {
  session.note(`weir: ${reasonOf(error)}`)
  log.debug({ err: error }, 'command failed')
  // A client that still tries to reach a part would keep the process alive.
  process.exit(1)
}
