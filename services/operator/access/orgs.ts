import type { Command } from 'commander'
import { setOrgLimits } from '#ledger/organisations.js'
import { OperatorError } from '../desk/operator-error.js'
import { examples, type Session } from '../desk/session.js'
import { readOrg } from './read-org.js'

type Options = { requests?: string; records?: string; json?: boolean }

export const addOrgsLimits = (orgs: Command, session: Session): void => {
  orgs
    .command('limits')
    .description('set how much each key of an organisation may send to one edge; without options, show it')
    .argument('<org>', 'its id')
    .option('--requests <n>', 'requests a second, 0 for no limit, or "default"')
    .option('--records <n>', 'records a second, 0 for no limit, or "default"')
    .option('--json', 'one line of JSON: org, requests_per_second, records_per_second (null: the default)')
    .addHelpText(
      'after',
      examples('orgs limits acme --requests 50 --records 10000', 'orgs limits acme --records default'),
    )
    .action(async (given: string, options: Options) => {
      const org = readOrg(given)
      const limits = {
        ...(options.requests !== undefined && { requests_per_second: readLimit(options.requests) }),
        ...(options.records !== undefined && { records_per_second: readLimit(options.records) }),
      }
      const now = await session.withPool((pool) => setOrgLimits(pool, org, limits))
      if (!now) throw new OperatorError(`there is no organisation ${org}: "weir orgs list" shows those there are`)
      if (options.json) session.print(JSON.stringify({ org, ...now }))
      else
        session.print(
          `each key of ${org}: requests a second ${writeLimit(now.requests_per_second)}, ` +
            `records a second ${writeLimit(now.records_per_second)}`,
        )
    })
}

// What a Postgres integer holds.
const most = 2_147_483_647

/** A whole number; null for the default. */
export const readLimit = (given: string): number | null => {
  if (given === 'default') return null
  if (/^\d{1,10}$/.test(given) && Number(given) <= most) return Number(given)
  throw new OperatorError(`"${given}" is not a limit: write a whole number a second, 0 for no limit, or default`)
}

export const writeLimit = (limit: number | null): string => {
  if (limit === null) return 'default'
  return limit === 0 ? 'no limit' : String(limit)
}
