import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { openLog, rotateLog, sizeOf } from '../../../../deploy/embedded/supervision/log-file.js'
import { eventually } from '../../../support/eventually.js'

let file = ''
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-log-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  file = join(folder, 'worker.log')
})

it.runIf(process.platform === 'linux')(
  'loses no line of a process that goes on writing while its log is put aside',
  async () => {
    const log = openLog(file)
    const script = "let n = 0; const fs = require('node:fs'); for (;;) fs.writeSync(1, 'line ' + n++ + '\\n')"
    const writer = spawn(process.execPath, ['-e', script], { stdio: ['ignore', log, 'inherit'] })
    const pid = writer.pid ?? 0
    onTestFinished(() => void writer.kill('SIGKILL'))
    let rotations = 0
    while (rotations < 3) {
      await eventually(() => expect(sizeOf(file) ?? 0).toBeGreaterThan(20_000))
      if (await rotateLog(file, pid, 20_000)) rotations++
    }
    writer.kill('SIGKILL')
    await eventually(() => expect(writer.signalCode).toBe('SIGKILL'))
    const text = [`${file}.3`, `${file}.2`, `${file}.1`, file].map((each) => readFileSync(each, 'utf8')).join('')
    const lines = text.trimEnd().split('\n')
    expect(lines.findIndex((line, n) => line !== `line ${n}`)).toBe(-1)
    expect(lines.length).toBeGreaterThan(3_000)
  },
)

it('keeps three, and goes without where there is no such process or nothing to put aside', async () => {
  const gone = 2 ** 22 + 1
  writeFileSync(file, 'much')
  expect(await rotateLog(file, process.ppid, 100)).toBe(false)
  expect(await rotateLog(file, gone, 1)).toBe(false)
  expect(readFileSync(file, 'utf8')).toBe('much')
  const sleeper = spawn('sleep', ['600'], { stdio: 'ignore' })
  onTestFinished(() => void sleeper.kill('SIGKILL'))
  for (const text of ['first', 'second', 'third', 'fourth']) {
    writeFileSync(file, text)
    expect(await rotateLog(file, sleeper.pid ?? 0, 1)).toBe(process.platform === 'linux')
  }
  if (process.platform !== 'linux') return
  expect(['.1', '.2', '.3'].map((end) => readFileSync(file + end, 'utf8'))).toEqual(['fourth', 'third', 'second'])
  expect([existsSync(`${file}.4`), existsSync(`${file}.copy`), sizeOf(file)]).toEqual([false, false, 0])
})
