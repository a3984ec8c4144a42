// npm run faults: the real system, clients, and from a seed all that can happen to it; then every promise is checked.
import { cpSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onStopSignal } from '../../deploy/embedded/launcher/stop-signals.js'
import { readOptions } from './options.js'
import { isGood, lineOf, tableOf } from './report.js'
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

const runs = options.only.flatMap((name) => options.seeds.map((seed) => ({ name, seed })))
note(`starting the system, for ${runs.length} runs …`)
const stack = await startStack({ say: detail, lanes: options.lanes })
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

const results: Result[] = []
const runAll = async (): Promise<void> => {
  for (const { name, seed } of runs) {
    const scenario = scenarios.get(name)?.()
    if (!scenario || isStopping) return
    const result = await runScenario(session, scenario, seed)
    results.push(result)
    note(`${results.length} of ${runs.length}  ${lineOf(result)}`)
    for (const { name: finding, about } of result.findings.slice(0, 10)) note(`    ${finding}: ${about.slice(0, 500)}`)
    if (!isGood(result))
      note(`    again: npm run faults -- --lanes ${options.lanes} --only ${name} --seed ${seed} --verbose`)
    if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`)
  }
}
let broken: unknown
await runAll().catch((error: unknown) => {
  broken = error
})

const bad = results.filter((result) => !isGood(result))
if (bad.length > 0 || broken) {
  const kept = await mkdtemp(join(tmpdir(), 'weir-faults-logs-'))
  cpSync(join(stack.dataDir, 'logs'), kept, { recursive: true })
  note(`the logs of all processes are in ${kept}`)
}
await stack.stop()
if (broken) throw broken
if (!options.json) process.stdout.write(`\n${tableOf(results)}\n`)
note(`${results.length} runs, ${bad.length} of them bad, ${Math.round((Date.now() - began) / 1000)} s`)
process.exit(bad.length > 0 ? 1 : 0)
