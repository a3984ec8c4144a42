import type { Command } from 'commander'
import { createOrg } from '#ledger/organisations.js'
import { examples, type Session } from '../desk/session.js'
import { readOrg } from './read-org.js'

export const addOrgsCreate = (orgs: Command, session: Session): void => {
  orgs
    .command('create')
    .description('create an organisation; creating it again changes nothing')
    .argument('<org>', 'its id: 1 to 63 lower-case letters, digits and hyphens')
    .option('--json', 'one line of JSON: org, created')
    .addHelpText('after', examples('orgs create acme'))
    .action(async (given: string, options: { json?: boolean }) => {
      const org = readOrg(given)
      const created = await session.withPool((pool) => createOrg(pool, org))
      if (options.json) session.print(JSON.stringify({ org, created }))
      else session.print(`${org} ${created ? 'is created' : 'was already there'}`)
    })
}
