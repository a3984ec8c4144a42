import type { Command } from 'commander'
import type { WaitFilter } from '#ledger/waiting/look-up.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { isUuid } from '#schemas/uuid.js'
import { readName, readOrg } from '../command/arguments.js'
import { OperatorError } from '../command/operator-error.js'

/** Which waiting records are meant, as an operator writes it. */
export type WaitWords = { org?: string; type?: string; record?: string; missing?: string }

/** The options that say which records are meant, the same for show and cancel. */
export const addWaitOptions = (command: Command): Command =>
  command
    .option(
      '--missing <type/id>',
      'those that wait for this record, such as shops/019a8b7c-2d3e-7f40-8a1b-2c3d4e5f6a7b',
    )
    .option('--record <type/id>', 'the record itself that waits')
    .option('--org <id>', 'only those of one organisation')
    .option('--type <type>', 'only records of one type that wait, such as offers')

export const readWaitFilter = (given: WaitWords, catalogue: Catalogue): WaitFilter => {
  const types = [...catalogue.all.keys()]
  const record = given.record === undefined ? undefined : readRecord('--record', given.record, types)
  const type = given.type === undefined ? undefined : readName('type', given.type, types)
  if (record && type !== undefined && record.type !== type)
    throw new OperatorError(`--record ${given.record} is none of the ${type}: leave --type out`)
  return {
    orgId: given.org === undefined ? undefined : readOrg(given.org),
    type: record?.type ?? type,
    id: record?.id,
    missing: given.missing === undefined ? undefined : readRecord('--missing', given.missing, types),
  }
}

const readRecord = (option: string, given: string, types: readonly string[]): { type: string; id: string } => {
  const [type = '', id = '', ...more] = given.split('/')
  if (more.length > 0 || !isUuid(id))
    throw new OperatorError(
      `${option} ${JSON.stringify(given)} does not name a record: ` +
        'write its type and its id, such as shops/019a8b7c-2d3e-7f40-8a1b-2c3d4e5f6a7b',
    )
  return { type: readName('type', type, types), id: id.toLowerCase() }
}
