import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { execa } from 'execa'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'
import { identityOf } from '../../../../deploy/embedded/supervision/process-identity.mjs'
import { eventually } from '../../../support/eventually.js'
import { freePortVariables } from '../../../support/free-port-variables.js'

let clone: string

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'weir-clone-'))
  for (const name of ['deploy', 'package.json', 'package-lock.json'])
    cpSync(join(packageRoot, name), join(clone, name), { recursive: true })
})

afterEach(() => rmSync(clone, { recursive: true }))

// Downloads for ever, with a process of its own, and neither of them heeds a signal.
const stubbornNpm = `
  const { spawn } = require('node:child_process')
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
  const args = ['-e', "process.on('SIGTERM', () => {}); console.log('ready'); setInterval(() => {}, 1000)"]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  child.stdout.once('data', () => require('node:fs').writeFileSync(process.cwd() + '/pids', process.pid + ' ' + child.pid))
  setInterval(() => {}, 1000)`

it.each(['SIGINT', 'SIGTERM'] as const)(
  'says so when %s comes during the set-up, and ends all of it, though nothing of it heeds the signal',
  async (signal) => {
    const npm = join(clone, 'npm.cjs')
    writeFileSync(npm, stubbornNpm)
    const parts = { KAFKA_BROKERS: '127.0.0.1:1', SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1' }
    const env = { ...(await freePortVariables()), ...parts, npm_execpath: npm }
    const start = execa(process.execPath, [join(clone, 'deploy/embedded/start.mjs')], { env, reject: false })
    const pids = await eventually(() => {
      const found = readFileSync(join(clone, 'pids'), 'utf8').split(' ').map(Number)
      expect(found).toHaveLength(2)
      return found
    })
    start.kill(signal)
    const said: string[] = []
    for await (const line of createInterface(start.stdout)) said.push(line)
    const { exitCode, stderr } = await start
    expect(exitCode).toBe(signal === 'SIGINT' ? 130 : 143)
    expect(stderr).toBe('')
    expect(said).toContain('stopping …')
    expect(pids.map(identityOf)).toEqual([undefined, undefined])
  },
)
