import type { Command } from 'commander'
import { readDuration } from '../command/arguments.js'
import { examplesAnd, type Session, toPasted } from '../command/session.js'
import { judge, toJson, toText } from './report.js'

export const addStatus = (program: Command, session: Session): void => {
  program
    .command('status')
    .description('show on one screen whether all is well: services, lag, what waits, disks, keys, the last verify')
    .option('--wait <duration>', 'how long each service and part may take to answer', '5s')
    .option(
      '--json',
      'one line: is_well, services, kafka (the lag of every partition), postgres, clickhouse, wrong, remarks',
    )
    .addHelpText('after', examplesAnd(about, 'status', 'status --wait 30s --json'))
    .action(async ({ json, wait }: { json?: boolean; wait: string }) => {
      const { lookAtSystem } = await import('./look.js')
      const found = await lookAtSystem(session, readDuration(wait))
      const now = new Date()
      const judgement = judge(found, now)
      // Next steps name commands as they are called here.
      const text = () => toPasted(toText(found, judgement, now, session.width), session.config.CALLED_AS)
      session.print(json ? toJson(found, judgement, now) : text())
      if (judgement.wrong.length > 0) session.endWith(1)
    })
}

const about = `
Every service and every part is asked for itself, for --wait at the most: what does not answer is said, and the rest is shown all the same.
The edge is at EDGE_URL (its page for operators at OPERATIONS_PORT, where it has one), integrity, sink and delivery are where PEERS says, as for the
edge; without PEERS they are shown as the edge sees them.
Exit code: 0 all is well, 1 something is wrong; each line says what, and the next command.`
