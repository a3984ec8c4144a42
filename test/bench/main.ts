// npm run bench: what a record costs in Weir, beside what it costs without Weir's promises. Progress goes to standard error.
import { readFileSync } from 'node:fs'
import { onStopSignal } from '../../deploy/embedded/launcher/stop-signals.js'
import { capacityTables } from './capacity/tables.js'
import { measureMarts } from './marts/measure.js'
import { martTables } from './marts/tables.js'
import { readOptions } from './options.js'
import { writeDocuments } from './report/documents.js'
import { headlineOf, problemsOf, tablesOf, toText } from './report/tables.js'
import type { Results } from './results.js'
import { runBench } from './run.js'
import type { OnStarted } from './system.js'

const options = readOptions(process.argv.slice(2))
const began = Date.now()
const say = (line: string) =>
  process.stderr.write(`${String(Math.round((Date.now() - began) / 1000)).padStart(5)} s  ${line}\n`)

if (options.marts !== undefined) {
  const figures = await measureMarts({ transactions: options.marts, say, onStarted: stopWhenInterrupted() })
  if (options.json) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
  else print(martTables(figures).map(toText))
  process.exit()
}

const results = options.from === undefined ? await run() : readResults(options.from)

if (options.docs && results.form !== 'full')
  fail(
    `${options.from} is a short run, and docs/ shows full ones; make one: npm run -s bench -- --full --json > run.json`,
  )
if (options.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)
else if (options.capacity) print(capacityTables(results).map(toText))
else
  print([
    `${headlineOf(results)}\n`,
    ...problemsOf(results).map((line) => `! ${line}\n`),
    ...tablesOf(results).map(toText),
  ])
if (options.docs) for (const path of writeDocuments(results)) say(`written: ${path}`)

async function run(): Promise<Results> {
  const form = options.full ? 'full' : 'short'
  return runBench({ form, growTo: options.growth, say, onStarted: stopWhenInterrupted() })
}

/** To be called with what has to be stopped if the run is interrupted, the last one first. */
function stopWhenInterrupted(): OnStarted {
  const stops: (() => Promise<void>)[] = []
  const stopAll = async () => {
    for (const stop of stops.reverse()) await stop()
  }
  onStopSignal({
    stop: () => {
      say('stopping …')
      void stopAll().finally(() => process.exit(130))
    },
    hurry: () => process.exit(130),
  })
  return (stop) => stops.push(stop)
}

function readResults(file: string): Results {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Results
  } catch (error) {
    const { message } = error as Error
    return fail(`${file} holds no run (${message}); make one: npm run -s bench -- --full --json > ${file}`)
  }
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

function print(pieces: readonly string[]): void {
  process.stdout.write(`\n${pieces.join('\n')}`)
}
