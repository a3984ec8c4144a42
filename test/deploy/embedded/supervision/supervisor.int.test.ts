import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { answersHttp, freePorts } from '../../../../deploy/embedded/servers/ports.js'
import { identityOf } from '../../../../deploy/embedded/supervision/process-identity.mjs'
import {
  createSupervisor,
  type ProcessDefinition,
  type Supervisor,
} from '../../../../deploy/embedded/supervision/supervisor.js'
import { eventually } from '../../../support/eventually.js'

let dataDir: string
let supervisor: Supervisor
let lines: string[]

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'weir-supervisor-'))
  lines = []
  supervisor = createSupervisor({ dataDir, report: (line) => lines.push(line) })
})

afterEach(async () => {
  await supervisor.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const server = async (name: string, onTerm = 'process.exit(0)'): Promise<ProcessDefinition> => {
  const [port = 0] = await freePorts(1)
  const script = `
    process.on('SIGTERM', () => { console.log(Date.now() + ' end of ${name}'); ${onTerm} })
    require('node:http').createServer((_, answer) => answer.end()).listen(${port}, '127.0.0.1')`
  return {
    name,
    port,
    command: process.execPath,
    args: ['-e', script],
    isReady: () => answersHttp(`http://127.0.0.1:${port}/`),
  }
}

const pidOf = (name: string): number => JSON.parse(readFileSync(join(dataDir, 'run', `${name}.pid`), 'utf8')).pid
const logOf = (name: string): string => readFileSync(join(dataDir, 'logs', `${name}.log`), 'utf8')

it('starts again what was killed, and says so', async () => {
  const definition = await server('worker')
  await supervisor.start([definition])
  const first = pidOf('worker')
  process.kill(first, 'SIGKILL')
  await eventually(() => expect(lines).toContainEqual(expect.stringMatching(/^worker is ready again after/)))
  expect(lines[0]).toBe('worker ended (SIGKILL); starting it again')
  expect(pidOf('worker')).not.toBe(first)
  expect(await definition.isReady()).toBe(true)
})

it('prepares before every start', async () => {
  let prepared = 0
  const definition = { ...(await server('worker')), prepare: async () => void prepared++ }
  await supervisor.start([definition])
  process.kill(pidOf('worker'), 'SIGKILL')
  await eventually(() => expect(prepared).toBe(2))
})

it('gives up on what does not start, with the last of its log', async () => {
  const broken = { ...(await server('broken')), args: ['-e', 'console.error("no such luck"); process.exit(3)'] }
  await expect(supervisor.start([broken])).rejects.toThrow(/broken cannot start: exit code 3[\s\S]*no such luck/)
})

it('gives up on a command that does not exist', async () => {
  const absent = { ...(await server('absent')), command: 'no-such-command' }
  await expect(supervisor.start([absent])).rejects.toThrow(/absent cannot start/)
})

it('stops each when those that need it have ended, the others side by side, and leaves nothing', async () => {
  const slowly = 'setTimeout(() => { console.log(Date.now() + " gone"); process.exit(0) }, 300)'
  const log = { ...(await server('log')), neededBy: ['door', 'absent'] }
  await supervisor.start([log, await server('door', slowly), await server('lamp', slowly)])
  const pids = ['log', 'door', 'lamp'].map(pidOf)
  const stopped = supervisor.stop()
  await eventually(() => expect(supervisor.stopping().map(({ name }) => name)).toEqual(['door', 'lamp']))
  await stopped
  expect(supervisor.stopping()).toEqual([])
  expect(pids.map(identityOf)).toEqual([undefined, undefined, undefined])
  const times = (name: string) => logOf(name).split('\n').map(Number.parseFloat)
  const [[toldLog = 0], [toldDoor = 0, doorGone = 0], [toldLamp = 0, lampGone = 0]] = [
    times('log'),
    times('door'),
    times('lamp'),
  ]
  expect(toldLog).toBeGreaterThanOrEqual(doorGone)
  expect([toldDoor, toldLamp].every((told) => told < Math.min(doorGone, lampGone))).toBe(true)
  expect(existsSync(join(dataDir, 'run', 'log.pid'))).toBe(false)
})

it('ends at once what does not want to stop when hurried', async () => {
  await supervisor.start([await server('stubborn', '')])
  const pid = pidOf('stubborn')
  const stopped = supervisor.stop()
  await eventually(() => expect(logOf('stubborn')).toContain('end of stubborn'))
  expect(identityOf(pid)).toBeDefined()
  supervisor.kill()
  await stopped
  expect(identityOf(pid)).toBeUndefined()
})

it('soon stops what was never ready: a preparation is cut short, a process has a second', async () => {
  const never = async () => false
  const stubborn = { ...(await server('stubborn', '')), isReady: never }
  const prepared = {
    ...(await server('prepared')),
    prepare: (signal: AbortSignal) =>
      new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(new Error('cut short')))),
  }
  const started = supervisor.start([stubborn, prepared])
  const failed = expect(started).rejects.toThrow()
  await eventually(() => expect(pidOf('stubborn')).toBeGreaterThan(0))
  // A process that was ready has 20 s.
  const readyProcessStops = delay(20_000, 'later', { ref: false })
  expect(await Promise.race([supervisor.stop(), readyProcessStops])).toBeUndefined()
  await failed
  expect(existsSync(join(dataDir, 'run', 'prepared.pid'))).toBe(false)
})
