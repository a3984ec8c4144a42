import { Command } from 'commander'
import { toCount } from '../support/to-count.js'

export type Options = {
  full: boolean
  growth: number | undefined
  /** How many transactions the marts are asked about; undefined where they are not. */
  marts: number | undefined
  json: boolean
  docs: boolean
  from: string | undefined
  capacity: boolean
}

const tenMillion = 10_000_000

/** The command line of `npm run bench`; prints its help and ends the process when that is asked for. */
export const readOptions = (argv: readonly string[]): Options => {
  const command = new Command('npm run bench --')
    .description(
      'Starts the whole of Weir on free ports, and beside it the floors: bare fastify and kafkajs on the same broker, which do ' +
        'a part of the same work without its promises. Loads both with the same bodies, and says for each load how many ' +
        'records a second it took, how long requests took, how long until a record was visible in ClickHouse, what a record ' +
        'cost each process in CPU, and how much memory each held. CPU counts from the first request until the last record is ' +
        'in ClickHouse. The load generator is a process of its own. At the end stand the goals of docs/performance.md, each ' +
        'met or not.\n\nOther work on the machine changes every figure: compare within one run (that is what the ratios to ' +
        'the floors are for), and look at how many cores others kept busy.',
    )
    .option('--full', 'longer loads, a second start, and a flood; about 8 minutes instead of 3', false)
    .option(
      '--growth [shops]',
      'fill a system of its own up to so many shops (10 million unless said), and compare with the start; 10 minutes or more',
      (text) => toCount(text),
    )
    .option(
      '--marts [transactions]',
      'only the questions of analysts: an engine of its own with one large organisation (10 million transactions unless said); 20 minutes',
      (text) => toCount(text),
    )
    .option('--json', 'the figures as JSON on standard output, instead of tables', false)
    .option('--from <file>', 'run nothing: read the JSON of an earlier run')
    .option('--docs', 'write plot and tables into docs/; the run has to be a full one', false)
    .option('--capacity', 'show what 10 thousand, 100 thousand and a million records a second would need', false)
    .addHelpText(
      'after',
      `
Examples:
  npm run bench                                              the short form, about 3 minutes
  npm run -s bench -- --full --growth --json > run.json      everything, kept in a file
  npm run bench -- --marts 1000000                           analysts' questions to a million transactions
  npm run bench -- --from run.json --docs                    that run into docs/performance.md and docs/capacity.md
  npm run bench -- --from docs/performance.json --capacity   what much more would need, by the last run in docs/`,
    )
  const given = command
    .parse(argv, { from: 'user' })
    .opts<{ growth?: number | true; marts?: number | true; from?: string } & Omit<Options, 'growth' | 'marts'>>()
  if (given.from && (given.full || given.growth))
    command.error('--from reads an earlier run: leave out --full and --growth')
  if (given.marts && (given.full || given.growth || given.from || given.docs))
    command.error('--marts stands alone, or with --json')
  if (given.docs && !given.full && !given.from)
    command.error('docs/ shows full runs only: add --full, or --from with a full run')
  const countOf = (value: number | true | undefined) => (value === true ? tenMillion : value)
  return { ...given, from: given.from, growth: countOf(given.growth), marts: countOf(given.marts) }
}
