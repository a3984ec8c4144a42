import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually } from '../support/eventually.js'
import { trySignal } from '../support/process-tree.js'
import { openTerminal } from './terminal.js'

const folder = mkdtempSync(join(tmpdir(), "weir's terminal "))
let terminal: ReturnType<typeof openTerminal>
beforeAll(() => {
  terminal = openTerminal({ cwd: folder, env: { PATH: process.env.PATH ?? '' }, enter: [], folder })
})
afterAll(async () => {
  await terminal.close()
  rmSync(folder, { recursive: true })
})

const run = (text: string, isEnough = (_: string) => false) =>
  terminal.run({ page: 'docs/a.md', line: 10, language: 'sh', text }, isEnough)

it('keeps what a snippet sets for the next one, and hears both streams', async () => {
  expect(await run('NAME=weir\n')).toEqual({ output: '', failed: [] })
  expect(await run('echo "$NAME"; cat; echo done >&2\n')).toEqual({ output: expect.stringMatching(/weir/), failed: [] })
  expect((await run('echo "$NAME" >&2\n')).output).toBe('weir\n')
})

it('says which lines failed, and goes on after them', async () => {
  const { output, failed } = await run(`echo one\nfalse\nX=$(echo two | grep three)\necho "four"\n`)
  expect(output).toBe('one\nfour\n')
  expect(failed).toEqual(['docs/a.md:11: code 1 of false', 'docs/a.md:12: code 1 of X=$(echo two | grep three)'])
  expect((await run('true\n')).failed).toEqual([])
  expect((await run('echo "\n')).failed).toEqual([expect.stringContaining('docs/a.md:10: code')])
})

it('presses Ctrl-C once enough is printed, and keeps the shell', async () => {
  const endless = `node -e '
    process.once("SIGINT", () => { console.log("left"); process.exit() }) // Ctrl-C
    setInterval(() => console.log("tick"), 10)'\n`
  expect(await run(endless, (printed) => printed.includes('tick'))).toEqual({
    output: expect.stringMatching(/tick\n(tick\n)*left\n$/),
    failed: [],
  })
  expect((await run('echo still here\n')).output).toBe('still here\n')
})

it('says so when Ctrl-C kills the snippet instead of ending it', async () => {
  const { failed } = await run('echo begun\nsleep 60 # Ctrl-C\n', (printed) => printed.includes('begun'))
  expect(failed).toEqual(['docs/a.md:11: code 130 of sleep 60'])
})

const program = `
  import { openTerminal } from './test/docs/terminal.ts'
  const terminal = openTerminal({ cwd: '.', env: process.env, enter: [], folder: process.env.FOLDER })
  await terminal.run({ page: 'a.md', line: 1, language: 'sh', text: 'sleep 60 & echo $!; wait # Ctrl-C' }, (printed) => {
    process.stdout.write(printed)
    return false
  })`

it('ends with all that runs in it when the process that opened it is killed', async () => {
  const holder = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    env: { ...process.env, FOLDER: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = await once(holder.stdout, 'data')
  const sleeper = Number.parseInt(String(said), 10)
  expect(trySignal(sleeper, 'SIGCONT')).toBe(true)
  holder.kill('SIGKILL')
  await eventually(() => expect(trySignal(sleeper, 'SIGCONT')).toBe(false))
})
