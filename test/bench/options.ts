import { Command } from 'commander'
import { toCount } from '../support/to-count.js'

/** The command line of `npm run bench`: how many uploads. Prints its help and ends the process when that is asked for. */
export const readRequests = (argv: readonly string[]): number =>
  new Command('npm run bench --')
    .description(
      'Starts the whole of Weir on free ports, loads it, and tells what uploads and interactions took, and what a record cost each ' +
        'process. Takes a minute or two; figures can be compared within one run, and between runs on an idle machine.',
    )
    .argument('[uploads]', 'how many uploads of 5000 transactions', toCount, 60)
    .addHelpText(
      'after',
      `
Examples:
  npm run bench
  npm run bench -- 200    longer, for steadier figures`,
    )
    .parse(argv, { from: 'user' }).processedArgs[0]
