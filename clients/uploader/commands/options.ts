import type { Command } from 'commander'
import { type Dialect, notPlain, wordsFor } from '../../typescript/src/files/dialect.js'
import { readDateFormat, readDecimal, readDelimiter, readEncoding } from '../read/dialect.js'
import { type Format, formats } from '../read/open-rows.js'
import { quoted, UsageError } from '../read/row.js'
import type { Chosen } from '../records/files.js'
import type { Mapping } from '../records/mapping.js'
import { readNamespace } from '../records/uuid-from.js'
import { readZone } from '../records/zone.js'

/** What every command needs besides its words. */
export type Terminal = {
  env: Readonly<Record<string, string | undefined>>
  /** What a hint begins with, so that it can be pasted. */
  calledAs: string
  out: (text: string) => void
  signal: AbortSignal
}

export type ReadingOptions = {
  type?: string
  format?: Format
  map: ReadonlyMap<string, string>
  const: ReadonlyMap<string, string>
  skipUnknown?: boolean
  delimiter?: string
  decimal?: Dialect['decimal']
  dateFormat?: string
  encoding?: string
  uuidFrom?: string
  zone?: string
  json?: boolean
}

/** The options that say how files are read. */
export const addReadingOptions = (command: Command): Command =>
  command
    .option('--type <type>', 'what the records are, where the name of the file does not begin with it')
    .option('--format <format>', `${formats.join(', ')}, where the name of the file does not end with it`, readFormat)
    .option(
      '--map <column=field>',
      'a column that has another name than its field, or a path within JSON (address.country=region); without a field it is left out; as often as needed',
      readMap,
      new Map(),
    )
    .option('--const <field=value>', 'a value that every record gets; as often as needed', readConst, new Map())
    .option('--skip-unknown', 'leave out columns that are no field, instead of refusing them')
    .option(
      '--delimiter <sign>',
      "what separates the cells of CSV, such as ';' or tab; recognised where it is certain",
      readDelimiter,
    )
    .option(
      '--decimal <mark>',
      'the decimal mark of numbers in CSV: . or ,; recognised where it is certain',
      readDecimal,
    )
    .option(
      '--date-format <format>',
      'how dates in CSV are written, such as DD.MM.YYYY, with or without a time behind them; recognised where it is certain',
      readDateFormat,
    )
    .option(
      '--encoding <name>',
      'how the text is encoded, such as windows-1252; recognised where it is certain',
      readEncoding,
    )
    .option(
      '--uuid-from <namespace>',
      'make UUIDs of ids and references that are none: the same ones for ever with the same namespace, a name or a UUID of your own',
      readNamespace,
    )
    .option(
      '--zone <zone>',
      'the zone of times that name none, such as Europe/Berlin; without it they are taken for UTC',
      readZone,
    )
    .option('--json', 'one JSON object instead of the table')

/** Writes the command of this run once more, for other files or the same ones: with every option that was given but --restart. */
export type Again = (paths: readonly string[]) => string

/** Keeps the words of the options as they are read, because what is made of them cannot be written down again. */
export const createAgain = (command: Command, calledAs: string): Again => {
  const given: string[] = []
  for (const option of command.options)
    command.on(`option:${option.name()}`, (value: string | null) => {
      if (option.name() === 'restart') return
      given.push(`--${option.name()}`, ...(option.required ? [quoted(String(value))] : []))
    })
  return (paths) => [calledAs, command.name(), ...paths.map(quoted), ...given].join(' ')
}

/** Which files are meant, and how they are written as far as that was said. */
export const choiceOf = ({ type, format, map, encoding, delimiter, decimal, dateFormat }: ReadingOptions) => ({
  type,
  format,
  map,
  dialect: {
    ...(encoding !== undefined && { encoding }),
    ...(delimiter !== undefined && { delimiter }),
    ...(decimal !== undefined && { decimal }),
    ...(dateFormat !== undefined && { dates: dateFormat }),
  },
})

/** What a file was taken for, where it is not plain; said once, so that a wrong guess is seen before it is sent far. */
export const takenFor = ({ file, dialect }: Chosen): string[] => {
  const words = wordsFor(notPlain(dialect))
  return words === undefined ? [] : [`${file}: taken for ${words}`]
}

export const mappingOf = (options: ReadingOptions): Mapping => ({
  map: options.map,
  constants: options.const,
  skipUnknown: options.skipUnknown ?? false,
  ...(options.uuidFrom !== undefined && { uuidFrom: options.uuidFrom }),
  ...(options.zone !== undefined && { zone: options.zone }),
})

const readFormat = (given: string): Format => {
  const found = formats.find((format) => format === given.toLowerCase())
  if (found) return found
  throw new UsageError(`there is no format ${given}: write one of ${formats.join(', ')}`)
}

type Pairs = ReadonlyMap<string, string>

/** A column without a heading is --map '=field'. */
const readMap = (given: string, before: Pairs): Pairs => readPair(given, before, given.lastIndexOf('='))

const readConst = (given: string, before: Pairs): Pairs => readPair(given, before, given.indexOf('=') || -1)

const readPair = (given: string, before: Pairs, at: number): Pairs => {
  if (at < 0) throw new UsageError(`"${given}" needs a = in it, such as --map 'Shop Id=shop_id' or --const region=GB`)
  return new Map([...before, [given.slice(0, at).trim(), given.slice(at + 1).trim()]])
}
