import { Command, CommanderError } from 'commander'
import { buildInWords, thisBuild } from '#platform/health/build.js'
import { reasonOf } from '#platform/health/health.js'
import { catalogue } from '#schemas/catalogue.js'
import { addAnalysts } from './access/analysts.js'
import { addKeysList, addKeysRename, addKeysRevoke } from './access/keys.js'
import { addKeysIssue, addKeysRotate } from './access/new-keys.js'
import { addOrgs } from './access/orgs.js'
import { addExport } from './analytics/export/command.js'
import { addSql } from './analytics/sql.js'
import { addAudit } from './audit/command.js'
import { OperatorError } from './command/operator-error.js'
import { withParts } from './command/servers.js'
import { examples, type Session, toPasted } from './command/session.js'
import { addDoctor } from './doctor/command.js'
import { addErasures } from './erasures/command.js'
import { addLanesChange } from './lanes/change.js'
import { addLanesShow } from './lanes/show.js'
import { addAcceptLoss } from './loss/accept-loss.js'
import { addPersons } from './persons/command.js'
import { addProvision } from './provision/provision.js'
import { addPrune } from './prune/prune.js'
import { addRebuildAnalytics } from './rebuild/rebuild-analytics.js'
import { addRebuildIndex } from './rebuild/rebuild-index.js'
import { addRejectedList } from './rejected/list.js'
import { addRejectedRetry } from './rejected/retry.js'
import { addRejectedShow } from './rejected/show.js'
import { addRetention } from './retention/command.js'
import { addSegments } from './segments/command.js'
import { addStatus } from './status/command.js'
import { addTopicsSample } from './topics/sample.js'
import { addVerify } from './verify/command.js'
import { addWaitingCancel } from './waiting/cancel.js'
import { addWaitingList } from './waiting/list.js'
import { addWaitingShow } from './waiting/show.js'
import { addWebhooks } from './webhooks/command.js'

/** Where a command's words come from and its output goes: a process, or a test. */
type Surroundings = Omit<Session, 'catalogue' | 'withParts'>

/** Runs one command; says what went wrong, and returns the exit code where the command failed. */
export const runCommand = async (words: readonly string[], given: Surroundings): Promise<number | undefined> => {
  const session: Session = {
    ...given,
    catalogue,
    withParts: (names, work, options) => withParts(given, names, work, options),
    note: (text) => given.note(toPasted(text, given.config.CALLED_AS)),
  }
  try {
    await createProgram(session).parseAsync(words, { from: 'user' })
  } catch (error) {
    // It has said what is wrong with the words, or has shown the help.
    if (error instanceof CommanderError) return error.exitCode
    session.note(`weir: ${reasonOf(error)}`)
    session.log.debug({ err: error }, 'command failed')
    return error instanceof OperatorError ? error.exitCode : 1
  }
  return undefined
}

const createProgram = (session: Session): Command => {
  const program = new Command('weir')
    // It throws what it would end the process with.
    .exitOverride()
    .description('Operate Weir: its keys, its organisations, their analysts and the parts it runs on.')
    .version(buildInWords(thisBuild()), '--version', 'say version and commit')
    .configureHelp({ helpWidth: Number.isFinite(session.width) ? session.width : 80, showGlobalOptions: false })
    .configureOutput({
      writeOut: (text) => session.print(toPasted(text, session.config.CALLED_AS).replace(/\n$/, '')),
      writeErr: (text) => session.note(text.replace(/\n$/, '')),
      outputError: (text, write) => write(text.replace(/^error:/, 'weir:')),
    })
    .showHelpAfterError('See how it is used: "weir --help", or --help behind a command.')
    .addHelpText(
      'after',
      '\nFor uploaders: weir upload, weir check and weir sample, each with --help (docs/for-uploaders.md).',
    )
    .addHelpText(
      'after',
      '\nOn the machine of npm start: weir backup and weir restore, each with --help (docs/backup.md).',
    )
    .addHelpText('after', '\nFor assistants such as Claude: weir mcp, with --help (docs/for-assistants.md).')
    .addHelpText('after', examples('status', 'keys issue --org acme', 'keys list', 'keys issue --help'))

  addStatus(program, session)
  addDoctor(program, session)
  const keys = program.command('keys').description('issue, list, name, rotate and revoke API keys')
  for (const add of [addKeysIssue, addKeysList, addKeysRename, addKeysRotate, addKeysRevoke]) add(keys, session)

  addOrgs(program, session)
  addAudit(program, session)
  addAnalysts(program, session)
  addSql(program, session)
  addSegments(program, session)
  addExport(program, session)

  const rejected = program.command('rejected').description('look at refused records, and submit them again')
  for (const add of [addRejectedList, addRejectedShow, addRejectedRetry]) add(rejected, session)

  const waiting = program
    .command('waiting')
    .description('look at records that wait for what they refer to, and cancel them')
  for (const add of [addWaitingList, addWaitingShow, addWaitingCancel]) add(waiting, session)

  addWebhooks(program, session)
  addPersons(program, session)
  addErasures(program, session)

  const lanes = program.command('lanes').description('how wide the system is, and how to make it wider')
  for (const add of [addLanesShow, addLanesChange]) add(lanes, session)

  addTopicsSample(
    program.command('topics').description('for downstream teams: events to test a consumer with'),
    session,
  )

  addPrune(program, session)
  addRetention(program, session)
  const rebuild = program
    .command('rebuild')
    .description('make the entity index or the ClickHouse tables anew from the log')
  addRebuildIndex(rebuild, session)
  addRebuildAnalytics(rebuild, session)

  for (const add of [addProvision, addVerify, addAcceptLoss]) add(program, session)
  return program
}
