import type { Command } from 'commander'
import { catalogue } from '../../../schemas/catalogue.js'
import { createInFlight, createWeir } from '../../typescript/src/index.js'
import { UsageError } from '../read/row.js'
import { type Chosen, chooseFiles } from '../records/files.js'
import { createProgress } from '../report/progress.js'
import { summaryOf, tableOf } from '../report/summary.js'
import { createBudget, type MostErrors, readMostErrors } from '../send/budget.js'
import { createReport, type FileReport } from '../send/tally.js'
import { findTarget } from '../send/target.js'
import { tryFile } from '../send/try-file.js'
import { type FileUpload, type FileUploadDeps, uploadFile } from '../send/upload-file.js'
import { codeOf, exitCodes, lineOf } from './exit-codes.js'
import {
  type Again,
  addReadingOptions,
  choiceOf,
  createAgain,
  mappingOf,
  type ReadingOptions,
  type Terminal,
  takenFor,
} from './options.js'

type UploadOptions = ReadingOptions & {
  url?: string
  keyFile?: string
  restart?: boolean
  dryRun?: boolean
  trial?: number
  maxErrors?: MostErrors
  wait?: string
}

export const addUpload = (program: Command, terminal: Terminal): void => {
  const command = program
    .command('upload', { isDefault: true })
    .description('upload files of records; run again, it goes on where it stopped')
    .argument('<files...>', 'files, folders, or - for standard input')
    .option('--url <url>', 'the server, instead of WEIR_URL')
    .option('--key-file <file>', 'a file that holds the key, instead of WEIR_KEY')
  const reading = addReadingOptions(command)
    .option('--restart', 'forget earlier runs, and send all of it anew')
    .option('--dry-run', 'check all records, references too, and keep nothing')
    .option(
      '--trial <records>',
      'send only that many, the first ones, as a dry run, and show what is wrong with each',
      readTrial,
    )
    .option(
      '--wait <time>',
      'let records wait that long for what they refer to, such as 24h, and send files of all types at once',
      readWait,
    )
    .option(
      '--max-errors <number or %>',
      'stop when more records than that are refused, such as 1000 or 5%',
      readMostErrors,
    )
  const again = createAgain(reading, terminal.calledAs)
  reading.action(async (paths: string[], options: UploadOptions) => {
    process.exitCode = await upload(paths, options, again, terminal)
  })
}

const upload = async (paths: string[], options: UploadOptions, again: Again, terminal: Terminal): Promise<number> => {
  const begunAt = performance.now()
  const target = findTarget(options, terminal.env)
  const progress = createProgress(process.stderr)
  const { files, passedOver } = await chooseFiles(paths, choiceOf(options), catalogue)
  for (const line of files.flatMap(takenFor)) progress.note(line)
  if (passedOver.length > 0) progress.note(`passed over, because no type begins their names: ${passedOver.join(', ')}`)
  const deps: FileUploadDeps = {
    target,
    weir: createWeir({ url: target.url, key: target.key }),
    mapping: mappingOf(options),
    restart: options.restart ?? false,
    wait: options.wait,
    inFlight: createInFlight({ most: 8 }),
    budget: createBudget(options.maxErrors),
    progress,
    signal: terminal.signal,
    again,
  }
  const isTrying = options.dryRun || options.trial !== undefined
  if (!isTrying && paths.includes('-'))
    progress.note('standard input cannot be resumed: what stops has to be sent again from its start')

  const reports = files.map(({ file, type }): FileReport => createReport(file, type.type))
  let failure: unknown
  // One after another, since what a file refers to is in those before it. Where records wait for that, only files of one type are:
  // of two records with one id, that in the later file wins.
  const queues = options.wait === undefined ? [files] : [...byType(files).values()]
  const uploadSome = async (): Promise<void> => {
    for (let queue = queues.shift(); queue; queue = queues.shift())
      for (const chosen of queue) {
        if (failure !== undefined || terminal.signal.aborted || deps.budget.isSpent()) return
        const done: FileUpload = await (isTrying ? tryFile(chosen, deps, options.trial) : uploadFile(chosen, deps))
        reports[files.indexOf(chosen)] = done.report
        failure ??= done.failure
      }
  }
  await Promise.all(Array.from({ length: typesAtOnce }, uploadSome))
  const isSpent = deps.budget.isSpent(true)
  const seconds = Math.round((performance.now() - begunAt) / 10) / 100
  const summary = summaryOf(reports, seconds)
  terminal.out(
    options.json
      ? JSON.stringify(summary)
      : tableOf(reports, summary, isTrying ? 'checked, and none kept,' : 'answered'),
  )
  const foreseen = deps.budget.foreseen()
  return tellEnd({ failure, isSpent, foreseen, reports, terminal, paths, isTrying, url: target.url, again })
}

type Ended = {
  failure: unknown
  isSpent: boolean
  /** Records that were not sent, because they would be refused. */
  foreseen: number
  reports: FileReport[]
  paths: string[]
  isTrying: boolean
  url: string
  again: Again
  terminal: Terminal
}

/** Says why it ended, if not because all is accepted, and how to go on. Returns the exit code. */
const tellEnd = ({ failure, isSpent, foreseen, reports, paths, isTrying, url, again, terminal }: Ended): number => {
  const say = (text: string) => void process.stderr.write(`weir: ${text}\n`)
  const goOn = `${isTrying || paths.includes('-') ? 'run it again' : 'to go on where it stopped'}: ${again(paths)}`
  if (terminal.signal.aborted) {
    say(`stopped; ${goOn}`)
    return exitCodes.interrupted
  }
  if (failure !== undefined) {
    say(`${lineOf(failure)}${failure instanceof UsageError ? '' : `; ${goOn}`}`)
    return codeOf(failure)
  }
  const refused = reports.reduce((sum, report) => sum + report.refused, 0)
  if (isSpent) {
    const isLeft = reports.some(({ state }) => state === 'stopped')
    const many =
      foreseen === 0
        ? `${refused} refused records are`
        : `${refused} refused records, and ${foreseen} that would be, are`
    say(`${many} more than --max-errors allows${isLeft ? `; check shows what is wrong; ${goOn}` : ''}`)
    return exitCodes.threshold
  }
  const waiting = reports.reduce((sum, report) => sum + report.waiting, 0)
  if (waiting > 0 && !isTrying)
    say(
      `${waiting} ${waiting === 1 ? 'record' : 'records'} waited for what they refer to; what is still missing: curl -s ${url}/v1/waiting -H "Authorization: Bearer $WEIR_KEY"`,
    )
  return refused > 0 ? exitCodes.refused : exitCodes.accepted
}

// As many as there are requests under way. More would only be open, and hold memory.
const typesAtOnce = 8

const byType = (files: readonly Chosen[]): Map<string, Chosen[]> => {
  const found = new Map<string, Chosen[]>()
  for (const chosen of files) found.set(chosen.type.type, [...(found.get(chosen.type.type) ?? []), chosen])
  return found
}

const readTrial = (given: string): number => {
  if (/^[1-9]\d{0,8}$/.test(given)) return Number(given)
  throw new UsageError(`"${given}" is no number of records: write one, such as --trial 1000`)
}

const readWait = (given: string): string => {
  if (/^\d{1,6}[smhd]$/.test(given)) return given
  throw new UsageError(`"${given}" is no time: write a number with s, m, h or d behind it, such as --wait 24h`)
}
