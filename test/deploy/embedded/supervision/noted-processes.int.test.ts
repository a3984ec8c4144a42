import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { endOrphans, noteProcess } from '../../../../deploy/embedded/supervision/noted-processes.js'
import { identityOf } from '../../../../deploy/embedded/supervision/process-identity.mjs'
import { eventually } from '../../../support/eventually.js'

let dataDir: string

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'weir-orphans-'))
})

afterEach(() => rm(dataDir, { recursive: true, force: true }))

const launcherOf = (stubborn: string) => `
  const { createSupervisor } = await import('./deploy/embedded/supervision/supervisor.ts')
  const { existsSync } = await import('node:fs')
  const flag = process.env.FOLDER + '/up'
  const definition = { name: 'child', port: 0, command: process.execPath, args: ['-e', ${JSON.stringify(stubborn)}],
    env: { FLAG: flag }, isReady: async () => existsSync(flag) }
  await createSupervisor({ dataDir: process.env.FOLDER, report: () => {} }).start([definition])
  setInterval(() => {}, 1000)`

const startLauncher = async (child: string) => {
  const launcher = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', launcherOf(child)], {
    env: { ...process.env, FOLDER: dataDir },
    stdio: 'inherit',
  })
  const note = join(dataDir, 'run', 'child.pid')
  await eventually(() => expect(existsSync(note) && existsSync(join(dataDir, 'up'))).toBe(true))
  return { launcher, pid: (JSON.parse(readFileSync(note, 'utf8')) as { pid: number }).pid }
}

const child = (onTerm: string) => `
  process.on('SIGTERM', () => { ${onTerm} })
  require('node:fs').writeFileSync(process.env.FLAG, '')
  setInterval(() => {}, 1000)`

it('ends what a killed launcher left, even if that does not want to', async () => {
  const { launcher, pid } = await startLauncher(child(''))
  launcher.kill('SIGKILL')
  await once(launcher, 'exit')
  expect(identityOf(pid)).toBeDefined()
  expect(await endOrphans(dataDir, 300)).toEqual(['child'])
  expect(identityOf(pid)).toBeUndefined()
})

it.runIf(process.platform === 'linux')('lets children end with a killed launcher', async () => {
  const { launcher, pid } = await startLauncher(child('process.exit(0)'))
  launcher.kill('SIGKILL')
  await eventually(() => expect(identityOf(pid)).toBeUndefined())
})

it('leaves alone a process that only has the same id', async () => {
  const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  const pid = stranger.pid ?? 0
  noteProcess(dataDir, 'stranger', pid, 'SIGTERM')
  const file = join(dataDir, 'run', 'stranger.pid')
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"identity":"[^"]*"/, '"identity":"another start"'))
  expect(await endOrphans(dataDir)).toEqual([])
  expect(identityOf(pid)).toBeDefined()
  expect(existsSync(file)).toBe(false)
  stranger.kill()
})
