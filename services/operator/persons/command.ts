import { createWriteStream, existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { commandLine, noteAudit } from '#ledger/audit.js'
import { hasOrg } from '#ledger/organisations.js'
import { createPersonExport } from '#persons/export.js'
import { asCsvText, asJsonText, inPieces } from '#persons/written.js'
import { readOrg } from '../command/arguments.js'
import { fileIsThere, OperatorError } from '../command/operator-error.js'
import { examplesAnd, type Session } from '../command/session.js'

type Options = { org: string; csv?: boolean; out?: string }

/** What people may ask about themselves. */
export const addPersons = (program: Command, session: Session): void => {
  const persons = program.command('persons').description('what is kept about a person')
  persons
    .command('export <id>')
    .description('everything that is kept about a person, as JSON or CSV (docs/persons.md)')
    .requiredOption('--org <id>', 'the organisation whose records they are')
    .option('--csv', 'as CSV, a line for each value')
    .option('--out <file>', 'into this new file, which only you may read')
    .addHelpText(
      'after',
      examplesAnd(
        about,
        'persons export 019a8b7c-2d3e-7f40-8a1b-2c3d4e5f6a7b --org acme --csv --out person.csv',
        'persons export anna --org acme',
      ),
    )
    .action((id: string, options: Options) => exportPerson(id, options, session))
}

const about = `
A person is a customer, by customer_id or student_id, or a user, by user_id. That it was exported is in the audit.`

const exportPerson = async (id: string, options: Options, session: Session): Promise<void> => {
  const org = readOrg(options.org)
  const { catalogue } = session
  // Before anything is noted as exported.
  if (options.out !== undefined && existsSync(options.out)) throw fileIsThere(options.out)
  await session.withParts(
    ['pool', 'clickhouse', 'registry'],
    async ({ pool, clickhouse, registry }) => {
      if (!(await hasOrg(pool, org))) throw new OperatorError(`there is no organisation ${org}`)
      const open = createPersonExport({ catalogue, clickhouse, pool, decoders: registry, now: Date.now })
      const found = await open(org, id)
      if (!found)
        throw new OperatorError(
          `nothing of ${org} is kept about a person with this id: it is a customer_id, student_id or user_id, as it stands in the records`,
        )
      await noteAudit(pool, commandLine, { org, action: 'person_exported', subject: id })
      const texts = inPieces(options.csv ? asCsvText(found) : asJsonText(found))
      if (options.out === undefined) {
        // Whole lines: what is printed has a newline of its own.
        for await (const text of asLines(texts)) session.print(text)
        return
      }
      await toFile(options.out, texts)
      session.note(`${options.out}: whole`)
    },
    { requestTimeout: 300_000 },
  )
}

/** A file that is not whole does not stay. */
const toFile = async (file: string, texts: AsyncIterable<string>): Promise<void> => {
  const stream = createWriteStream(file, { flags: 'wx', mode: 0o600 })
  try {
    await pipeline(Readable.from(texts, { objectMode: false }), stream)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw fileIsThere(file)
    await rm(file, { force: true })
    throw error
  }
}

async function* asLines(texts: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let rest = ''
  for await (const text of texts) {
    const all = rest + text
    const end = all.lastIndexOf('\n')
    if (end > 0) yield all.slice(0, end)
    rest = all.slice(end + 1)
  }
  if (rest !== '') yield rest
}
