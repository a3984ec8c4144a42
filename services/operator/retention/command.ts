import type { Command } from 'commander'
import { commandLine } from '#ledger/audit.js'
import type { Counted } from '#ledger/erasures/erasures.js'
import {
  dropRule,
  everybody,
  lastRun,
  listRules,
  type RetentionRun,
  type Rule,
  readKeep,
  setRule,
} from '#ledger/erasures/record-retention.js'
import { hasOrg } from '#ledger/organisations.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { readName, readOrg } from '../command/arguments.js'
import { canAsk, confirm } from '../command/confirm.js'
import { OperatorError } from '../command/operator-error.js'
import { examples, examplesAnd, type Session } from '../command/session.js'
import { type Column, toDistance, toTable } from '../command/table.js'
import { countsOf } from '../erasures/text.js'

type WhichRule = { type: string; org?: string; json?: boolean }
type SetOptions = WhichRule & { keep: string; dryRun?: boolean; yes?: boolean }

/** How long records are kept. */
export const addRetention = (program: Command, session: Session): void => {
  const retention = program.command('retention').description('say how long records of a type are kept')
  const type = 'the type, such as transactions'
  const org = 'of this organisation alone; without it, of every one that has no rule of its own'
  retention
    .command('set')
    .description('remove records of a type from topics and tables when they are too old, from now on')
    .requiredOption('--type <type>', type)
    .requiredOption('--keep <age>', 'how long after its last version was accepted a record is kept: 30d, 18mo, 7y')
    .option('--org <id>', org)
    .option('--dry-run', 'only count what would go now')
    .option('--yes', 'do not ask; needed where there is no terminal')
    .option('--json', 'one line of JSON: type, org, keep, and with --dry-run found: counts by place')
    .addHelpText(
      'after',
      examplesAnd(
        about,
        'retention set --type transactions --keep 7y --dry-run',
        'retention set --type interactions --keep 90d --org acme --yes',
      ),
    )
    .action((options: SetOptions) => set(options, session))
  retention
    .command('list')
    .description('show the rules, and what the last run removed')
    .option('--json', 'one line of JSON: rules, last_run')
    .addHelpText('after', examples('retention list'))
    .action((options: { json?: boolean }) => list(options, session))
  retention
    .command('drop')
    .description('take a rule away: records are kept for good again, or by the rule for all others')
    .requiredOption('--type <type>', type)
    .option('--org <id>', org)
    .option('--json', 'one line of JSON: type, org, dropped')
    .addHelpText('after', examples('retention drop --type transactions'))
    .action((options: WhichRule) => drop(options, session))
}

const about = `
A record goes with all its versions, from the submitted, accepted, rejected and waiting topics, from ClickHouse and from the entity index: what
refers to it later is refused, what referred to it stays. The delivery service does it, by whole days (UTC): within a minute of a new
rule, then once a day. Nothing brings a record back.`

const set = async (options: SetOptions, session: Session): Promise<void> => {
  const rule = { ...whichRule(options, session), keep: options.keep }
  if (!readKeep(options.keep))
    throw new OperatorError(`"${options.keep}" is no age: write a number with d, mo or y, such as 30d, 18mo or 7y`)
  if (options.dryRun) return count(rule, options, session)
  await session.withParts(['pool'], async ({ pool }) => {
    if (rule.org !== everybody && !(await hasOrg(pool, rule.org)))
      throw new OperatorError(`there is no organisation ${rule.org}: "weir orgs list" shows those there are`)
    if (!(await isWanted(rule, options))) return session.note('nothing was set, and nothing is removed')
    await inTransaction(pool, (connection) => setRule(connection, rule, commandLine))
    session.print(options.json ? JSON.stringify(shownRule(rule)) : inWords(rule))
  })
}

const isWanted = async (rule: Pick<Rule, 'org' | 'type' | 'keep'>, { yes }: SetOptions): Promise<boolean> => {
  if (yes) return true
  if (!canAsk()) throw new OperatorError('nothing brings a record back: add --yes, or --dry-run to see what would go')
  return confirm(`${inWords(rule)}. Remove those that are older, now and from now on?`)
}

const count = (rule: Pick<Rule, 'org' | 'type' | 'keep'>, options: SetOptions, session: Session): Promise<void> =>
  session.withParts(
    ['pool', 'kafka', 'registry', 'clickhouse'],
    async ({ pool, ...parts }) => {
      // Loaded only here, with the Avro library: every other command starts sooner.
      const { countOld } = await import('#persons/retention/apply.js')
      const { cutoffsOf } = await import('#persons/retention/cutoffs.js')
      const { catalogue, config } = session
      const place = { cluster: config.CLICKHOUSE_CLUSTER }
      // A rule for everybody is not about those who have one of their own.
      const others = (await listRules(pool)).filter(({ type, org }) => type === rule.type && org !== rule.org)
      const tooOldBy = (rules: readonly Pick<Rule, 'org' | 'type' | 'keep'>[]): Promise<Counted[]> =>
        countOld({ ...parts, catalogue, place }, cutoffsOf(catalogue, rules, Date.now()))
      const before = others.length === 0 ? [] : await tooOldBy(others)
      const found = less(await tooOldBy([...others, rule]), before)
      if (options.json) return session.print(JSON.stringify({ ...shownRule(rule), found }))
      session.print(found.length === 0 ? 'nothing is too old now' : countsOf(found).join('\n'))
      session.note(`dry run: ${inWords(rule)}; nothing is set, and nothing is removed`)
    },
    { requestTimeout: 600_000 },
  )

const less = (counts: readonly Counted[], others: readonly Counted[]): Counted[] => {
  const known = new Map(others.map(({ where, count }) => [where, count]))
  return counts
    .map(({ where, count }) => ({ where, count: count - (known.get(where) ?? 0) }))
    .filter(({ count }) => count > 0)
}

const list = async (options: { json?: boolean }, session: Session): Promise<void> => {
  const { rules, run } = await session.withParts(['pool'], async ({ pool }) => ({
    rules: await listRules(pool),
    run: await lastRun(pool),
  }))
  if (options.json)
    return session.print(JSON.stringify({ rules: rules.map(shownRule), last_run: run ? shownRun(run) : null }))
  if (rules.length === 0) session.note('everything is kept: "weir retention set" says how long')
  else session.print(toTable(columns, rules, session.width))
  if (run) session.print(runInWords(run, new Date()))
}

const columns: Column<Rule>[] = [
  { title: 'TYPE', cell: ({ type }) => type },
  { title: 'ORG', cell: ({ org }) => whose(org) },
  { title: 'KEPT', cell: ({ keep }) => keep },
  { title: 'SET', cell: ({ setAt }) => setAt.toISOString().slice(0, 10) },
]

const runInWords = ({ beganAt, endedAt, removed, problem }: RetentionRun, now: Date): string =>
  [
    `last run ${beganAt.toISOString()} (${toDistance(beganAt, now)}): ${endedAt === null ? 'it has not ended' : 'ended'}`,
    ...(problem === null ? [] : [`  problem  ${problem}`]),
    ...countsOf(removed).map((line) => `  ${line}`),
  ].join('\n')

const drop = async (options: WhichRule, session: Session): Promise<void> => {
  const rule = whichRule(options, session)
  const dropped = await session.withParts(['pool'], ({ pool }) =>
    inTransaction(pool, (connection) => dropRule(connection, rule, commandLine)),
  )
  if (options.json) return session.print(JSON.stringify({ type: rule.type, org: toJsonOrg(rule.org), dropped }))
  session.print(dropped ? `the rule for ${rule.type} of ${whose(rule.org)} is gone` : 'there was no such rule')
}

const whichRule = ({ type, org }: WhichRule, { catalogue }: Session): Pick<Rule, 'org' | 'type'> => ({
  type: readName('type', type, [...catalogue.all.keys()]),
  org: org === undefined ? everybody : readOrg(org),
})

const whose = (org: string): string => (org === everybody ? 'all others' : org)
const toJsonOrg = (org: string): string | null => (org === everybody ? null : org)
const inWords = ({ type, org, keep }: Pick<Rule, 'org' | 'type' | 'keep'>): string =>
  `${type} of ${org === everybody ? 'every organisation without a rule of its own' : org} are kept for ${keep}`
const shownRule = ({ org, type, keep }: Pick<Rule, 'org' | 'type' | 'keep'>) => ({ type, org: toJsonOrg(org), keep })
const shownRun = ({ beganAt, endedAt, removed, problem }: RetentionRun) => ({
  began_at: beganAt,
  ended_at: endedAt,
  removed,
  problem,
})
