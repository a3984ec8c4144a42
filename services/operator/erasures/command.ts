import type { Command } from 'commander'
import { commandLine } from '#ledger/audit.js'
import { askErasure, listErasures, type NewErasure } from '#ledger/erasures/erasures.js'
import { hasOrg } from '#ledger/organisations.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { erasureModes } from '#schemas/endpoints/persons/erasures.js'
import { readName, readOrg } from '../command/arguments.js'
import { canAsk, confirm } from '../command/confirm.js'
import { OperatorError } from '../command/operator-error.js'
import { examples, examplesAnd, type Session } from '../command/session.js'
import { again } from './again.js'
import { check } from './check.js'
import { follow } from './follow.js'
import { findKnown, prove } from './prove.js'
import { erasureAsJson, toErasureTable, toErasureText } from './text.js'

type AskOptions = { org: string; person: string; mode: string; afterwards: string } & Partial<
  Record<'dryRun' | 'wait' | 'yes' | 'json', boolean>
>

const id = '0f8e2a5c-1b7d-4a3e-9c51-7d2f6e4b8a90'
const person = '019a8b7c-2d3e-7f40-8a1b-2c3d4e5f6a7b'

/** People who are to be forgotten, and the proof that they are. */
export const addErasures = (program: Command, session: Session): void => {
  const erasures = program.command('erasures').description('forget people: ask for it, follow it, prove it')
  const json = '--json'
  const onErasure = `one line of JSON: erasure_id, org, mode, afterwards, dry_run, status, step, found, problem, report, …`
  erasures
    .command('create')
    .description('take what names a person out of topics and tables, and prove it (docs/persons.md)')
    .requiredOption('--org <id>', 'the organisation whose records they are')
    .requiredOption('--person <id>', 'a customer_id, student_id or user_id')
    .requiredOption('--mode <mode>', erasureModes.join(' or '))
    .option('--dry-run', 'only count what there is')
    .option('--afterwards <what>', 'what becomes of later uploads that name the person: refuse or new', 'refuse')
    .option('--wait', 'until it has ended; shows the steps')
    .option('--yes', 'do not ask; needed where there is no terminal')
    .option(json, onErasure)
    .addHelpText(
      'after',
      examplesAnd(
        aboutCreate,
        `erasures create --org acme --person ${person} --mode erase --dry-run --wait`,
        `erasures create --org acme --person ${person} --mode erase --wait`,
        'erasures create --org acme --person anna --mode pseudonymise --afterwards new --yes --json',
      ),
    )
    .action((options: AskOptions) => create(options, session))
  erasures
    .command('list')
    .description('show the erasures there are, the newest first; they name nobody')
    .option('--org <id>', 'only those of one organisation')
    .option(json, 'one line: an array of what "weir erasures show" has')
    .addHelpText('after', examples('erasures list --org acme'))
    .action((options: { org?: string; json?: boolean }) => list(options, session))
  erasures
    .command('show <erasure_id>')
    .description('show what became of an erasure: its step, what was found, its problem, where its proof is')
    .option(json, onErasure)
    .addHelpText('after', examples(`erasures show ${id}`))
    .action((erasureId: string, options: { json?: boolean }) => show(erasureId, options, session))
  erasures
    .command('again [erasure_id...]')
    .description(
      'do erasures once more: after a part was put back to a time before them, or what made them fail is mended',
    )
    .option('--since <time>', 'all that ended since then: a time, or how long ago (30d)')
    .option(json, 'one line of JSON: erasures: how many')
    .addHelpText('after', examples(`erasures again ${id}`, 'erasures again --since 30d'))
    .action((ids: string[], options: { since?: string; json?: boolean }) => again(ids, options, session))
  erasures
    .command('prove <erasure_id>')
    .description('read everything again, say what is left of the person, and sign that')
    .option('--out <file>', 'the proof into this new file: report, signature, public_key')
    .option(json, 'one line of JSON: erasure_id, left, report, signature, public_key')
    .addHelpText('after', examplesAnd(aboutProve, `erasures prove ${id}`, `erasures prove ${id} --out proof.json`))
    .action((erasureId: string, options: { out?: string; json?: boolean }) => prove(erasureId, options, session))
  erasures
    .command('check <file>')
    .description('check the signature of a proof in a file; asks no part of the system')
    .option('--key <file>', 'the public key that it has to be signed with (PEM)')
    .option(json, 'one line of JSON: erasure_id, left, key_sha256, report')
    .addHelpText('after', examplesAnd(aboutCheck, 'erasures check proof.json --key weir-public.pem'))
    .action((file: string, options: { key?: string; json?: boolean }) => check(file, options, session))
}

const aboutCreate = `
Modes:
  erase          all records that name the person go
  pseudonymise   transactions and interactions stay for sums, without the person; all else goes
A person is a customer, by customer_id or student_id, or a user, by user_id, as in "weir persons export". The delivery service does it, in
a minute or more; asked again while it runs, it is the same erasure. One that has not ended within a day has failed; it is tried on every
hour. Nothing brings a person back. What others have stays: whoever has read the topics, files that were exported, backups.

Exit code: with --wait 0 when it is done, 1 when it has failed.`

const aboutProve = `
It reads all topics from end to end and all tables, by hashes of the ids: nobody is named. What cannot be read is an error.
Exit code: 0 nothing is left, 1 something is left, 2 that could not be found out.`

const aboutCheck = `
A file holds its public key, so that anybody can see that the report was not changed. That it is from your Weir only a key says that you
have from there: "weir erasures prove <erasure_id> --json" and GET /v1/erasures/{erasure_id} have it as public_key.
Exit code: 0 the signature is right and nothing is left, 1 something is left, 2 the signature is wrong, or the file is no proof.`

const create = async (options: AskOptions, session: Session): Promise<void> => {
  const asked: NewErasure = {
    orgId: readOrg(options.org),
    personId: readPerson(options.person),
    mode: readName('mode', options.mode, erasureModes),
    afterwards: readName('way', options.afterwards, ['refuse', 'new']),
    isDryRun: options.dryRun === true,
  }
  await session.withParts(['pool'], async ({ pool }) => {
    if (!(await hasOrg(pool, asked.orgId))) throw new OperatorError(`there is no organisation ${asked.orgId}`)
    if (!(await isWanted(asked, options))) return session.note('nothing was asked for, and nothing is removed')
    const erasure = await inTransaction(pool, (connection) => askErasure(connection, asked, commandLine))
    await follow(pool, erasure, options, session)
  })
}

const readPerson = (given: string): string => {
  if (given.trim() !== '' && given.length <= 1000) return given
  throw new OperatorError(
    '--person takes the id of a person, of 1 to 1000 characters: a customer_id, student_id or user_id',
  )
}

const isWanted = async ({ orgId, personId, mode, isDryRun }: NewErasure, { yes }: AskOptions): Promise<boolean> => {
  if (isDryRun || yes) return true
  if (!canAsk()) throw new OperatorError('nothing brings a person back: add --yes, or --dry-run to see what there is')
  const what =
    mode === 'erase'
      ? 'All records that name the person go'
      : 'Transactions and interactions stay, without the person; all else that names the person goes'
  return confirm(`Forget ${personId} of ${orgId}? ${what}, for good.`)
}

const list = async (options: { org?: string; json?: boolean }, session: Session): Promise<void> => {
  const org = options.org === undefined ? null : readOrg(options.org)
  const found = await session.withParts(['pool'], ({ pool }) => listErasures(pool, org))
  if (options.json) return session.print(JSON.stringify(found.map(erasureAsJson)))
  if (found.length === 0) return session.note('nobody was to be forgotten yet: "weir erasures create" asks for it')
  session.print(toErasureTable(found, new Date(), session.width))
}

const show = async (erasureId: string, options: { json?: boolean }, session: Session): Promise<void> => {
  const found = await session.withParts(['pool'], ({ pool }) => findKnown(pool, erasureId))
  session.print(options.json ? JSON.stringify(erasureAsJson(found)) : toErasureText(found, new Date()))
}
