import type { Command } from 'commander'
import { countMissing, findMostMissed, type MissingRecord } from '#ledger/waiting/look-up.js'
import { readCount, readName, readOrg } from '../command/arguments.js'
import { examplesAnd, type Session } from '../command/session.js'
import { type Column, toDistance, toTableWithIds } from '../command/table.js'

type Options = { org?: string; type?: string; limit: string; json?: boolean }

export const addWaitingList = (waiting: Command, session: Session): void => {
  waiting
    .command('list')
    .description('show the records that are missing, those first for which the most others wait')
    .option('--org <id>', 'only those that one organisation waits for')
    .option('--type <type>', 'only missing records of one type, such as shops')
    .option('--limit <n>', 'how many at the most', '50')
    .option('--json', 'one line: missing and waiting (how many in all), records (an array)')
    .addHelpText('after', examplesAnd(about, ...calls))
    .action((options: Options) => list(options, session))
}

const calls = ['waiting list', 'waiting list --org acme --type shops', 'waiting list --limit 1000 --json']
const about = `
A record that was sent with missing_references=wait, and refers to one that is not there, waits for it: for a day, unless its
uploader said otherwise. It is accepted by itself as soon as the missing one is, and refused when its time is up (the first of them
at FIRST REFUSED). So what stands here is what uploaders still have to send. WAITING counts those that wait for that record; one
that waits for two is counted at both.`

const list = async (options: Options, session: Session): Promise<void> => {
  const filter = {
    orgId: options.org === undefined ? undefined : readOrg(options.org),
    type: options.type === undefined ? undefined : readName('type', options.type, [...session.catalogue.all.keys()]),
  }
  const limit = readCount(options.limit, `"${options.limit}" is not a count: write a whole number from 1 to 999999`, 1)
  const { rows, missing, waiting } = await session.withParts(['pool'], async ({ pool }) => ({
    ...(await countMissing(pool, filter)),
    rows: await findMostMissed(pool, filter, limit),
  }))
  if (options.json) return session.print(JSON.stringify({ missing, waiting, records: rows.map(missingAsJson) }))
  if (rows.length === 0) return session.note('nothing waits')
  session.print(toMissingTable(rows, session.width, new Date()))
  const shown = rows.length < missing ? `the first ${rows.length} of ${missing}` : String(missing)
  session.print(`\n${shown} missing, for which ${waiting} wait`)
  session.note(`Who waits: "weir waiting show --missing ${rows[0]?.type}/${rows[0]?.id}"`)
}

const missingAsJson = ({ orgId, type, id, waiting, oldest, firstUntil }: MissingRecord) => ({
  org_id: orgId,
  type,
  id,
  waiting,
  oldest,
  first_until: firstUntil,
})

export const toMissingTable = (rows: readonly MissingRecord[], width: number, now: Date): string => {
  const facts: Column<MissingRecord>[] = [
    { title: 'WAITING', cell: ({ waiting }) => String(waiting) },
    { title: 'ORG', cell: ({ orgId }) => orgId, wraps: true },
    { title: 'OLDEST', cell: ({ oldest }) => toDistance(oldest, now) },
    { title: 'FIRST REFUSED', cell: ({ firstUntil }) => toDistance(firstUntil, now) },
  ]
  // As --missing takes it.
  const ids: Column<MissingRecord>[] = [{ title: 'MISSING', cell: ({ type, id }) => `${type}/${id}` }]
  return toTableWithIds(facts, ids, rows, width)
}
