import type { Command } from 'commander'
import { noteVerification } from '#ledger/verify/verifications.js'
import { reasonOf } from '#platform/health/health.js'
import { readCount, readMoment, readName, readOrg } from '../command/arguments.js'
import { OperatorError } from '../command/operator-error.js'
import { createProgress } from '../command/progress.js'
import { examplesAnd, type Session } from '../command/session.js'
import { type Findings, isClean, toJson, toText, toVerification } from './report.js'
import type { Range } from './subject.js'

type Options = { since: string; until?: string; org?: string; type: string[]; examples: number } & Partial<
  Record<'mend' | 'json', boolean>
>

export const addVerify = (program: Command, session: Session): void => {
  program
    .command('verify')
    .description('compare the submitted log, the verdicts, the topics and ClickHouse, and say what differs')
    .option('--since <moment>', 'what was submitted since then: 24h or 7d ago, or 2026-01-31T12:00:00Z', '24h')
    .option('--until <moment>', 'and before then; the default is now')
    .option('--org <id>', 'only what one organisation sent')
    .option(
      '--type <type>',
      'only this one, such as shop-tags or interactions; may be given more than once',
      gather,
      [],
    )
    .option('--mend', 'publish again what is missing on a topic, and the newest event where an old one came after it')
    .option('--examples <n>', 'how many differences of each kind are shown', readExamples, 5)
    .option('--json', 'one line of JSON: is_clean, types with their counts, differences, mended')
    .addHelpText('after', examplesAnd(about, ...calls))
    .action(async (options: Options) => {
      try {
        const findings = await run(options, session)
        session.print(options.json ? toJson(findings) : toText(findings, session.width))
        if (!isClean(findings)) session.endWith(1)
      } catch (error) {
        throw new OperatorError(`it cannot be said whether something differs: ${reasonOf(error)}`, 2)
      }
    })
}

const calls = ['verify', 'verify --since 7d --type shops --type offers', 'verify --org acme --mend']
const about = `
It reads and compares while the services run; what waits or is on its way is counted, and is no difference.
Exit code: 0 nothing differs (or all of it was mended), 1 something differs, 2 that could not be found out.`

const run = async (options: Options, session: Session): Promise<Findings> => {
  const { catalogue } = session
  const now = Date.now()
  const range = readRange(options, now)
  const known = [...catalogue.all.keys()]
  const names = options.type.length > 0 ? options.type.map((name) => readName('type', name, known)) : known
  const types = [...new Set(names)].flatMap((name) => catalogue.all.get(name) ?? [])
  const org = options.org === undefined ? undefined : readOrg(options.org)
  return session.withParts(
    ['pool', 'kafka', 'registry', 'clickhouse'],
    async (parts) => {
      // Loaded only here, with the Avro library: every other command starts sooner.
      const { verify } = await import('./verify.js')
      const asked = { types, org, range, now, mostExamples: options.examples, mends: options.mend === true }
      const findings = await verify({ ...parts, ...asked, catalogue, progress: createProgress })
      const isWhole = org === undefined && options.type.length === 0
      if (isWhole) await noteVerification(parts.pool, toVerification(findings))
      return findings
    },
    { requestTimeout: 600_000 },
  )
}

export const readRange = (given: { since: string; until?: string }, now: number): Range => {
  const form = 'write how long ago (24h, 7d), or a date or date-time (2026-01-31T12:00:00Z)'
  const read = (option: string, moment: string): number =>
    readMoment(moment, now, `${option} "${moment}" is not a moment: ${form}`)
  const since = read('--since', given.since)
  const until = given.until === undefined ? undefined : read('--until', given.until)
  if (until !== undefined && until <= since)
    throw new OperatorError(`--until ${given.until} is not after --since ${given.since}: there is nothing between them`)
  return { since, until }
}

const gather = (type: string, types: string[]): string[] => [...types, type]

const readExamples = (given: string): number =>
  readCount(given, `option '--examples <n>' argument '${given}' is invalid. write a whole number`)
