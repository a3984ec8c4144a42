import { type Command, InvalidArgumentError } from 'commander'
import { reasonOf } from '#platform/health/health.js'
import type { Log } from '#platform/health/log.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import type { RecordType } from '#schemas/record.js'
import { readOrg } from '../access/read-org.js'
import { OperatorError } from '../desk/operator-error.js'
import { createProgress } from '../desk/progress.js'
import { examples, type Session } from '../desk/session.js'
import { readRange } from './range.js'
import { type Findings, isClean, toJson, toText } from './report.js'

type Options = {
  since: string
  until?: string
  org?: string
  type: string[]
  mend?: boolean
  examples: number
  json?: boolean
}

export const addVerify = (program: Command, session: Session, log: Log): void => {
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
    .option('--examples <n>', 'how many differences of each kind are shown', readCount, 5)
    .option('--json', 'one line of JSON: is_clean, types with their counts, differences, mended')
    .addHelpText(
      'after',
      examples('verify', 'verify --since 7d --type shops --type offers', 'verify --org acme --mend'),
    )
    .addHelpText(
      'after',
      `
It reads and compares while the services run; what waits or is on its way is counted, and is no difference.
Exit code: 0 nothing differs (or all of it was mended), 1 something differs, 2 it could not be told.`,
    )
    .action(async (options: Options) => {
      try {
        const findings = await run(options, session, log)
        session.print(options.json ? toJson(findings) : toText(findings, session.width))
        process.exitCode = isClean(findings) ? 0 : 1
      } catch (error) {
        session.note(`weir: it cannot be told: ${reasonOf(error)}`)
        log.debug({ err: error }, 'verify failed')
        // A client that still tries to reach a part would keep the process alive.
        process.exit(2)
      }
    })
}

const run = async (options: Options, session: Session, log: Log): Promise<Findings> => {
  const now = Date.now()
  const range = readRange(options, now)
  const types = typesOf(options.type, session)
  const org = options.org === undefined ? undefined : readOrg(options.org)
  // The clients of four parts: loaded only here, so that other commands start sooner.
  const { openVerification } = await import('./open-verification.js')
  return openVerification({
    config: session.config,
    catalogue: session.catalogue,
    log,
    types,
    org,
    range,
    now,
    mostExamples: options.examples,
    mends: options.mend === true,
    progress: createProgress,
  })
}

const typesOf = (given: readonly string[], { catalogue }: Session): RecordType[] => {
  const names = given.length > 0 ? given : [...catalogue.all.keys()]
  return [...new Set(names)].map((name) => {
    const type = catalogue.all.get(name)
    if (type) return type
    const meant = nearest(name, [...catalogue.all.keys()])
    throw new OperatorError(`there is no type "${name}"${meant ? `: did you mean ${meant}?` : ''}`)
  })
}

const gather = (type: string, types: string[]): string[] => [...types, type]

const readCount = (given: string): number => {
  if (/^\d{1,6}$/.test(given)) return Number(given)
  throw new InvalidArgumentError('write a whole number')
}
