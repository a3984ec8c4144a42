import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { catalogue } from '../../../schemas/catalogue.js'
import type { RecordType } from '../../../schemas/record.js'
import { spoil } from '../../../schemas/samples/broken.js'
import { amountsFor, isBroken, recordAt, type Sample } from '../../../schemas/samples/records.js'
import { csvLine } from '../../typescript/src/files/refused-csv.js'
import { UsageError } from '../read/row.js'
import { count } from '../report/progress.js'
import type { Terminal } from './options.js'

type SampleFormat = 'csv' | 'ndjson'
type SampleOptions = {
  customers: number
  shops?: number
  out: string
  seed: number
  broken: number
  format: SampleFormat
  types?: RecordType[]
  until?: number
}

export const addSample = (program: Command, terminal: Terminal): void => {
  program
    .command('sample')
    .description('write files of believable records, linked with each other, for trying out and for measuring')
    .option('--customers <number>', 'how many customers; the other types in proportion', readNumber, 1000)
    .option('--shops <number>', 'how many shops, instead of one for every 50 customers', readNumber)
    .option('--types <types>', 'only these, such as shops,offers', readTypes)
    .requiredOption('--out <folder>', 'where the files go; made if it is not there')
    .option(
      '--seed <number>',
      'another one gives other records; the same one, with --until, always the same',
      readNumber,
      1,
    )
    .option('--until <day>', 'where the records end, such as 2026-01-01; without it, today', readDay)
    .option('--broken <share>', 'make that share of the rows wrong, such as 2%', readShare, 0)
    .option('--format <format>', 'csv or ndjson', readSampleFormat, 'csv')
    .action(async (options: SampleOptions) => {
      const { seed, broken, format, out, until = today() } = options
      const sample: Sample = { seed, broken, until, amounts: amountsFor(options.customers, options.shops) }
      await mkdir(out, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
        throw new UsageError(`the folder ${out} cannot be made (${error.code}): name another one with --out`)
      })
      for (const type of options.types ?? catalogue.all.values()) {
        const path = join(out, `${type.type}.${format}`)
        await pipeline(Readable.from(linesOf(sample, type, format)), createWriteStream(path), {
          signal: terminal.signal,
        })
        terminal.out(`${path}: ${count(sample.amounts[type.type] ?? 0)} records`)
      }
    })
}

const linesInOnePiece = 1000

/** The text of a file, some lines at a time. */
export function* linesOf(sample: Sample, type: RecordType, format: SampleFormat): Generator<string> {
  const columns = Object.keys(type.fields)
  const write = format === 'csv' ? (record: Record<string, unknown>) => toCsv(columns, record) : JSON.stringify
  let text = format === 'csv' ? csvLine(columns) : ''
  const amount = sample.amounts[type.type] ?? 0
  for (let index = 0; index < amount; index++) {
    const right = recordAt(sample, type, index)
    const row = isBroken(sample, type.type, index) ? spoil(sample, type, index, right, write) : { record: right }
    text += `${'line' in row ? row.line : write(row.record)}\n`
    if ((index + 1) % linesInOnePiece !== 0) continue
    yield text
    text = ''
  }
  yield text
}

const toCsv = (columns: readonly string[], record: Record<string, unknown>): string =>
  csvLine(columns.map((name) => String(record[name] ?? ''))).slice(0, -1)

const readNumber = (given: string): number => {
  if (/^\d{1,9}$/.test(given)) return Number(given)
  throw new UsageError(`"${given}" is no number: write one such as 10000`)
}

const readShare = (given: string): number => {
  const share = /^(\d{1,3}(?:\.\d+)?)%$/.exec(given)?.[1]
  if (share !== undefined && Number(share) <= 100) return Number(share) / 100
  throw new UsageError(`"${given}" is no share: write one such as --broken 2%`)
}

const aDay = 86_400_000
const today = (): number => Math.floor(Date.now() / aDay) * aDay

const readDay = (given: string): number => {
  const day = /^\d{4}-\d\d-\d\d$/.test(given) ? Date.parse(given) : Number.NaN
  if (!Number.isNaN(day)) return day
  throw new UsageError(`"${given}" is no day: write one such as 2026-01-01`)
}

const readSampleFormat = (given: string): SampleFormat => {
  if (given === 'csv' || given === 'ndjson') return given
  throw new UsageError(`samples are csv or ndjson, not ${given}`)
}

const readTypes = (given: string): RecordType[] =>
  given.split(',').map((name) => {
    const type = catalogue.all.get(name.trim())
    if (type) return type
    throw new UsageError(`there is no type ${name}: there are ${[...catalogue.all.keys()].join(', ')}`)
  })
