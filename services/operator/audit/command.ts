import type { Command } from 'commander'
import { type Audit, listAudit } from '#ledger/audit.js'
import { type AuditChain, asVerification, exportAudit, verifyAudit, verifyAudits } from '#ledger/audit-chain.js'
import { everybody } from '#ledger/erasures/record-retention.js'
import { hasOrg } from '#ledger/organisations.js'
import { reasonOf } from '#platform/health/health.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import type { AuditProblem } from '#schemas/endpoints/access/audit.js'
import { readCount, readOrg } from '../command/arguments.js'
import { OperatorError } from '../command/operator-error.js'
import { examples, examplesAnd, type Session } from '../command/session.js'
import { toDistance, toTable } from '../command/table.js'

type ListOptions = { org?: string; limit: string; json?: boolean }
type VerifyOptions = { org?: string; head?: string; json?: boolean }

/** What was done for organisations: to look at, to check, and to hand to somebody who checks it. */
export const addAudit = (program: Command, session: Session): void => {
  const audit = program.command('audit').description('what was done and by whom: list it, verify it, export it')
  audit
    .command('list')
    .description('show what was done with keys, limits, records and persons, the newest first')
    .option('--org <id>', 'only what concerns one organisation; with "*" what concerns every one')
    .option('--limit <number>', 'how many entries', '50')
    .option('--json', 'one line for each: at, org, action, subject, actor, request_id, details, chain, redacted')
    .addHelpText('after', examples('audit list --org acme', 'audit list --limit 500 --json'))
    .action((options: ListOptions) => list(options, session))
  audit
    .command('verify')
    .description('compute the hash chain again: whether anything was changed, removed or put in')
    .option('--org <id>', 'only the chain of one organisation')
    .option('--head <hash>', 'a head of before, which has to be in the chain; with --org')
    .option('--json', 'one line for each organisation: org, holds, entries, redacted, from, head, problem')
    .addHelpText('after', examplesAnd(aboutVerify, 'audit verify', `audit verify --org acme --head ${'3f'.repeat(32)}`))
    .action((options: VerifyOptions) => verify(options, session))
  audit
    .command('export')
    .description('a line of JSON for each entry, with which anybody can check the chain (docs/operations.md)')
    .requiredOption('--org <id>', 'the organisation')
    .addHelpText('after', examples('audit export --org acme > audit.jsonl'))
    .action((options: { org: string }) => exportAll(options, session))
}

const aboutVerify = `
Each organisation has a chain of its own. A head stands for all entries before it: where one is noted now and then, outside of Weir, also
the newest entries cannot be cut off unnoticed.
Exit code: 0 all chains hold, 1 one does not, 2 that could not be found out.`

const list = async ({ org, limit, json }: ListOptions, session: Session): Promise<void> => {
  const part = { most: readCount(limit, '--limit takes a whole number from 1 on', 1) }
  const found = await session.withParts(['pool'], ({ pool }) => listAudit(pool, org ? readWhose(org) : null, part))
  if (json) {
    for (const entry of found) session.print(JSON.stringify(asLine(entry)))
    return
  }
  if (found.length === 0) return session.note('nothing was done yet')
  const now = new Date()
  session.print(
    toTable<Audit>(
      [
        { title: 'WHEN', cell: ({ at }) => toDistance(at, now) },
        { title: 'ORG', cell: ({ org }) => org },
        {
          title: 'WHAT',
          cell: ({ action, details }) => ('dry_run' in details && details.dry_run ? `${action}, dry run` : action),
        },
        { title: 'OF', cell: ({ subject }) => subject, wraps: true },
        { title: 'BY', cell: ({ by }) => by.name ?? by.actor, wraps: true },
        { title: 'CHAIN', cell: ({ chain }) => chain.slice(0, 12) },
      ],
      found,
      session.width,
    ),
  )
}

const readWhose = (given: string): string => (given === everybody ? given : readOrg(given))

const asLine = ({ at, org, action, subject, by, requestId, details, chain, redacted }: Audit) => ({
  ...{ at, org, action, subject, actor: by.actor, request_id: requestId, details, chain, redacted },
})

const verify = async (options: VerifyOptions, session: Session): Promise<void> => {
  const { org, json } = options
  const chains = await readChains(options, session)
  const broken = chains.filter(({ problem }) => problem !== null)
  if (json) for (const chain of chains) session.print(JSON.stringify({ org: chain.org, ...asVerification(chain) }))
  else if (org !== undefined) session.print(chains.map(inWords).join('\n'))
  else
    session.print(
      [...broken.map(inWords), `${chains.length - broken.length} of ${chains.length} chains hold`].join('\n'),
    )
  if (broken.length > 0) session.endWith(1)
}

const readChains = async ({ org, head }: VerifyOptions, session: Session): Promise<AuditChain[]> => {
  if (head !== undefined && (org === undefined || !/^[0-9a-f]{64}$/.test(head)))
    throw new OperatorError('--head takes a hash of 64 hexadecimal digits, and --org the organisation whose it is', 2)
  const named = org === undefined ? undefined : readWhose(org)
  try {
    return await session.withParts(['pool'], async ({ pool }) => {
      if (named === undefined) return verifyAudits(pool)
      const chain = await verifyAudit(pool, named, head)
      if (chain.entries === 0 && named !== everybody && !(await hasOrg(pool, named)))
        throw new OperatorError(`there is no organisation ${named}; the audit of one that was deleted went with it`)
      return [chain]
    })
  } catch (error) {
    throw new OperatorError(`it cannot be said whether the audit holds: ${reasonOf(error)}`, 2)
  }
}

const inWords = ({ org, entries, redacted, from, head, problem }: AuditChain): string => {
  if (problem) {
    const where = problem.at && ` The entry: of ${problem.at.toISOString()}, chain ${problem.chain}.`
    return `${org}: does not hold. ${problems[problem.what]}${where ?? ''}`
  }
  if (!from) return `${org}: nothing was done yet, or all of it is too old`
  const taken = redacted > 0 ? `, of ${redacted} of which the id of an erased person was taken out` : ''
  return `${org}: holds, ${entries} ${entries === 1 ? 'entry' : 'entries'} since ${from.toISOString()}${taken}\n  head ${head}`
}

const problems: Readonly<Record<AuditProblem, string>> = {
  changed: 'An entry is not what it was when it was written.',
  removed: 'Entries before this one are missing, or are others than when it was written.',
  forged: 'An entry was put in later.',
  head_missing: 'No entry has this head: newer entries were cut off, or it is older than what is kept.',
}

const exportAll = ({ org }: { org: string }, session: Session): Promise<void> =>
  session.withParts(['pool'], ({ pool }) =>
    inTransaction(pool, async (connection) => {
      // All of it as of one moment: what is pruned meanwhile would leave a gap.
      await connection.query('set transaction isolation level repeatable read, read only')
      for await (const entry of exportAudit(connection, readWhose(org))) session.print(JSON.stringify(entry))
    }),
  )
