// npm run faults: the real system, clients, and from a seed all that can happen to it; then every promise is checked.
import { cpSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onStopSignal } from '../../deploy/embedded/launcher/stop-signals.js'
import { runCluster } from '../cluster/run-cluster.js'
import { readOptions } from './options.js'
import { figuresOf, isGood, lineOf, tableOf } from './report.js'
import { type LongResult, type LongRun, runLong } from './runs/long-run.js'
import { type Result, runScenario } from './runs/run.js'
import { scenarios } from './runs/scenarios.js'
import { createSession } from './runs/session.js'
import { startStack } from './stack/start-stack.js'

const options = readOptions(process.argv.slice(2))
const began = Date.now()
const note = (line: string) => process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`)
const detail = (line: string) => {
  if (options.verbose) note(`  ${line}`)
}

const results: Result[] = []
const tell = (result: Result, line: string, more: object = {}): void => {
  results.push(result)
  note(line)
  for (const { name: finding, about } of result.findings.slice(0, 10)) note(`    ${finding}: ${about.slice(0, 500)}`)
  if (options.json) process.stdout.write(`${JSON.stringify({ ...result, ...more })}\n`)
}

if (options.cluster) {
  note(`starting the cluster, for ${options.only.length * options.seeds.length} runs …`)
  let isStopping = false
  const whyNot = await runCluster(
    { names: options.only, seeds: options.seeds },
    {
      say: detail,
      isStopping: () => isStopping,
      onStarted: (stop) =>
        onStopSignal({
          stop: () => {
            isStopping = true
            void stop().then(() => process.exit(130))
          },
          hurry: () => process.exit(130),
        }),
      onResult: (result, pauses) => {
        tell(result, lineOf(result), { pauses })
        for (const { what, ms } of pauses) note(`    ${what}: no upload was accepted for ${(ms / 1000).toFixed(1)} s`)
      },
    },
  )
  if (whyNot) note(whyNot)
  if (!options.json) process.stdout.write(`\n${tableOf(results)}\n`)
  process.exit(whyNot || results.some((result) => !isGood(result)) ? 1 : 0)
}

const runs = options.only.flatMap((name) => options.seeds.map((seed) => ({ name, seed })))
note(`starting the system, for ${options.long ? `${options.long.kills} kills` : `${runs.length} runs`} …`)
// In a long run each process is killed so often that the launcher would soon leave it down for longer than up.
const soon = [100, 500, 1_000]
const stack = await startStack({
  say: detail,
  lanes: options.lanes,
  erases: options.long?.erasures ?? options.only.includes('erasures'),
  ...(options.long && { backoff: soon }),
})
let isStopping = false
onStopSignal({
  stop: () => {
    isStopping = true
    note('stopping …')
    void stack.stop().then(() => process.exit(130))
  },
  hurry: () => process.exit(130),
})
const session = createSession(stack, detail)

const runAll = async (): Promise<void> => {
  for (const { name, seed } of runs) {
    const scenario = scenarios.get(name)?.()
    if (!scenario || isStopping) return
    const result = await runScenario(session, scenario, seed)
    tell(result, `${results.length + 1} of ${runs.length}  ${lineOf(result)}`)
    if (!isGood(result))
      note(`    again: npm run faults -- --lanes ${options.lanes} --only ${name} --seed ${seed} --verbose`)
  }
}
let longest: LongResult | undefined
const runOne = async (wanted: LongRun): Promise<void> => {
  const onRound = (result: Result): void => tell(result, lineOf(result))
  longest = await runLong(session, wanted, { note, onRound, isStopping: () => isStopping })
}
let broken: unknown
await (options.long ? runOne(options.long) : runAll()).catch((error: unknown) => {
  broken = error
})

const bad = [...results, ...(longest ? [longest] : [])].filter((result) => !isGood(result))
if (bad.length > 0 || broken) {
  const kept = await mkdtemp(join(tmpdir(), 'weir-faults-logs-'))
  cpSync(join(stack.dataDir, 'logs'), kept, { recursive: true })
  note(`the logs of all processes are in ${kept}`)
}
await stack.stop()
if (broken) throw broken
if (options.json && longest) process.stdout.write(`${JSON.stringify(longest)}\n`)
if (!options.json) process.stdout.write(`\n${longest ? figuresOf(longest) : tableOf(results)}\n`)
if (!longest) note(`${results.length} runs, ${bad.length} of them bad, ${Math.round((Date.now() - began) / 1000)} s`)
process.exit(bad.length > 0 ? 1 : 0)
