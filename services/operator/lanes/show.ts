import type { Command } from 'commander'
import { findGenerations, type Generation } from '#ledger/layout/layout.js'
import { OperatorError } from '../command/operator-error.js'
import { examples, type Session } from '../command/session.js'
import { type Column, toTable } from '../command/table.js'

export const addLanesShow = (lanes: Command, session: Session): void => {
  lanes
    .command('show')
    .description('how wide the system is, and what became of earlier lanes')
    .option('--json', 'one line of JSON: an array, the first generation first')
    .addHelpText('after', examples('lanes show', 'lanes show --json'))
    .action((options: { json?: boolean }) => run(options, session))
}

const meaning = {
  coming: 'is being prepared',
  open: 'edges write to it',
  closed: 'integrity decides what is left in it',
  finished: 'all of it is decided',
} as const

const columns: Column<Generation>[] = [
  { title: 'generation', cell: ({ generation }) => String(generation) },
  { title: 'lanes', cell: ({ lanes }) => String(lanes) },
  { title: 'partitions', cell: ({ submittedPartitions }) => String(submittedPartitions) },
  { title: 'state', cell: ({ state }) => meaning[state], wraps: true },
]

const run = async ({ json = false }: { json?: boolean }, session: Session): Promise<void> => {
  const generations = await session.withParts(['pool'], ({ pool }) => findGenerations(pool))
  if (generations.length === 0)
    throw new OperatorError('this system is not provisioned yet: run "weir provision" first')
  if (json)
    return session.print(
      JSON.stringify(
        generations.map(({ generation, lanes, submittedPartitions, acceptedPartitions, state }) => ({
          generation,
          lanes,
          submitted_partitions: submittedPartitions,
          accepted_partitions: acceptedPartitions,
          state,
        })),
      ),
    )
  session.print(toTable(columns, generations, session.width))
}
