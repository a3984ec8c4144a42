import { Command } from 'commander'
import { clusterScenarios } from '../cluster/scenarios.js'
import { toCount } from '../support/to-count.js'
import type { LongRun } from './runs/long-run.js'
import { scenarios } from './runs/scenarios.js'

export type Options = {
  seeds: number[]
  only: string[]
  lanes: number
  json: boolean
  verbose: boolean
  /** On three brokers and two Postgres servers, with the runs of test/cluster. */
  cluster: boolean
  /** The one long run, instead of many short ones. */
  long?: LongRun
}

const defaultSeeds = 20

/** The command line of `npm run faults`; prints its help and ends the process when that is asked for. */
export const readOptions = (argv: readonly string[]): Options => {
  const command = new Command('npm run faults --')
    .description(
      'Starts the whole of Weir, lets clients use it, and lets happen to it what a seed says: kills at every row of the ' +
        'crash table, kills anywhere, pauses, restarts, cut, slow and frozen connections. After each run it checks that ' +
        'nothing acknowledged is lost, nothing is there twice, and that every place agrees. Ends with 1 when it does not.',
    )
    .option('--seeds <count>', 'how many seeds, from 1 on, for each kind of run', toCount, defaultSeeds)
    .option('--seed <number>', 'this seed alone: the way to see a failure again', toCount)
    .option('--lanes <number>', 'how many lanes an organisation has, 1 to 4', toCount, 1)
    .option('--only <names...>', `some kinds of run alone: ${[...scenarios.keys()].join(', ')}`)
    .option(
      '--cluster',
      `as root, on three brokers and two Postgres servers, each in a network of its own: ${[...clusterScenarios.keys()].join(', ')}`,
      false,
    )
    .option(
      '--kills <count>',
      'one long run instead, in which any process is killed, one every few seconds, this many times',
      toCount,
    )
    .option('--parts', 'in the long run: kill Kafka, Postgres, ClickHouse and the registry too')
    .option('--waiting', 'in the long run: records that wait for what never comes')
    .option('--retries', 'in the long run: refused records that are ordered to be submitted again')
    .option('--imports', 'in the long run: imports, interrupted and resumed')
    .option('--erasures', 'in the long run: persons who are erased, and sent again')
    .option(
      '--json',
      'one line of JSON for each run on standard output; of a long one, for each round and for the whole',
      false,
    )
    .option('--verbose', 'show what is done, and what the supervisor says, as it happens', false)
    .addHelpText(
      'after',
      `
Examples:
  npm run faults                                        everything; two and a half hours on two cores
  npm run faults -- --seeds 2                           the same, with two seeds each
  npm run faults -- --lanes 4 --only chaos kills        organisations with four lanes
  npm run faults -- --only after-postgres-commit kills  two kinds of run
  npm run faults -- --only chaos --seed 7 --verbose     one run again, and what happens in it
  npm run faults -- --cluster --seeds 1                 a cluster whose hosts die, are cut off and come back; an hour on two cores
  npm run faults -- --kills 1000 --parts --waiting --retries --imports --erasures
                                                        the long run before a release: some hours, by the speed of the machine

The long run: three organisations upload every type as JSON, NDJSON and CSV, send interactions, watch live streams, and do what the
options name. After each 50 kills everything comes back, and all is checked: each acknowledged record is there once, each wait
has ended, each retry was done once, live streams have given back their places. Then new organisations come. At the end the whole is
verified once more.`,
    )
  const given = command.parse(argv, { from: 'user' }).opts<{
    seeds: number
    seed?: number
    only?: string[]
    lanes: number
    json: boolean
    verbose: boolean
    cluster: boolean
    kills?: number
    parts?: boolean
    waiting?: boolean
    retries?: boolean
    imports?: boolean
    erasures?: boolean
  }>()
  const names = [...(given.cluster ? clusterScenarios : scenarios).keys()]
  const only = (given.only ?? names).flatMap((some) => some.split(',')).filter(Boolean)
  const unknown = only.find((name) => !names.includes(name))
  if (unknown) command.error(`there is no run called ${unknown}; there are ${names.join(', ')}`)
  if (given.cluster && (given.kills !== undefined || given.lanes !== 1))
    command.error('--cluster has runs of its own, with one lane: leave --kills and --lanes out')
  const { kills, parts, waiting, retries, imports, erasures } = given
  if (kills === undefined && (parts || waiting || retries || imports || erasures))
    command.error(
      '--parts, --waiting, --retries, --imports and --erasures belong to the long run: say --kills <count> too',
    )
  if (kills !== undefined && given.only) command.error('--kills is a run of its own: leave --only out')
  return {
    ...(kills !== undefined && {
      long: {
        ...{ kills, seed: given.seed ?? 1 },
        ...{ parts: parts ?? false, waiting: waiting ?? false, retries: retries ?? false, imports: imports ?? false },
        erasures: erasures ?? false,
      },
    }),
    seeds: given.seed === undefined ? Array.from({ length: given.seeds }, (_, i) => i + 1) : [given.seed],
    only,
    lanes: given.lanes,
    json: given.json,
    verbose: given.verbose,
    cluster: given.cluster,
  }
}
