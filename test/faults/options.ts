import { Command } from 'commander'
import { toCount } from '../support/to-count.js'
import { scenarios } from './runs/scenarios.js'

export type Options = { seeds: number[]; only: string[]; lanes: number; json: boolean; verbose: boolean }

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
    .option('--json', 'one line of JSON for each run on standard output', false)
    .option('--verbose', 'show what is done, and what the supervisor says, as it happens', false)
    .addHelpText(
      'after',
      `
Examples:
  npm run faults                                        everything; an hour and a half on two cores
  npm run faults -- --seeds 2                           the same, with two seeds each
  npm run faults -- --lanes 4 --only chaos kills        organisations with four lanes
  npm run faults -- --only after-postgres-commit kills  two kinds of run
  npm run faults -- --only chaos --seed 7 --verbose     one run again, and what happens in it`,
    )
  const given = command.parse(argv, { from: 'user' }).opts<{
    seeds: number
    seed?: number
    only?: string[]
    lanes: number
    json: boolean
    verbose: boolean
  }>()
  const only = (given.only ?? [...scenarios.keys()]).flatMap((names) => names.split(',')).filter(Boolean)
  const unknown = only.find((name) => !scenarios.has(name))
  if (unknown) command.error(`there is no run called ${unknown}; there are ${[...scenarios.keys()].join(', ')}`)
  return {
    seeds: given.seed === undefined ? Array.from({ length: given.seeds }, (_, i) => i + 1) : [given.seed],
    only,
    lanes: given.lanes,
    json: given.json,
    verbose: given.verbose,
  }
}
